import { asTielineError } from "../../model/errors.ts";
import { command } from "../args.ts";
import type { Context } from "../command.ts";
import { onceTrusted } from "../trusting.ts";
import { canAsk } from "../confirm.ts";
import attach from "./attach.ts";
import ls, { watch } from "./ls.ts";

export default command({
  name: "open",
  group: "Project",
  summary: "go to the team's tmux session, and start the team first if it is not there",
  usage: ["open"],
  details: [
    "What `tieline` does when nothing follows it on a terminal. A session that is made by this opens on the team's lead.",
    "Where there is no tieline.yaml and no team runs, it shows the agents of all teams until Ctrl-C.",
  ],
  args: [],
  flags: {},
  examples: [["tieline", "the same"]],
  async run(context) {
    if (await isThere(context)) return attach.run({ ...context, args: { agent: undefined } });
    const { paint } = context.terminal;
    const hints = [
      paint("dim", "This directory has no tieline.yaml. `tieline init` writes one, `tieline adopt` takes in what runs already,"),
      paint("dim", "`tieline attach TEAM:AGENT` goes to an agent, and `tieline help` lists the commands."),
    ];
    if (canAsk(context.terminal)) return watch(context, { all: true, hints: [...hints, paint("dim", "Ctrl-C closes this view.")] });
    return ls.run({ ...context, args: {}, flags: { ...context.flags, all: true } } as never);
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
