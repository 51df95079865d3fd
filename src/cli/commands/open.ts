import { asTielineError } from "../../model/errors.ts";
import { command } from "../args.ts";
import type { Context } from "../command.ts";
import { onceTrusted } from "../trusting.ts";
import attach from "./attach.ts";

export default command({
  name: "open",
  group: "Project",
  summary: "go to the team's tmux session, and start the team first if it is not there",
  usage: ["open"],
  details: ["What `tieline` does when nothing follows it on a terminal."],
  args: [],
  flags: {},
  examples: [["tieline", "the same"]],
  async run(context) {
    if (await isThere(context)) return attach.run({ ...context, args: { agent: undefined } });
    const { overview } = await import("../help.ts");
    const { loadAll } = await import("../registry.ts");
    await context.terminal.print(overview(await loadAll(), context.terminal.paint));
    await context.terminal.print(["", "No team runs here. `tieline init` writes a tieline.yaml to start one from, `tieline adopt` takes in what runs already."]);
    return 0;
  },
});

/** Starts the project's team where its session is missing; false: there is no project either. */
async function isThere(context: Context): Promise<boolean> {
  try {
    await context.daemon.call("place", {});
  } catch (thrown) {
    if (!["PANE_UNKNOWN", "TMUX_UNAVAILABLE", "TARGET_NOT_FOUND"].includes(asTielineError(thrown).code)) throw thrown;
    return launched(context);
  }
  return true;
}

async function launched(context: Context): Promise<boolean> {
  try {
    await onceTrusted(() => context.daemon.call("up", {}), context);
    return true;
  } catch (thrown) {
    if (asTielineError(thrown).operands["missing"] === "tieline.yaml") return false;
    throw thrown;
  }
}
