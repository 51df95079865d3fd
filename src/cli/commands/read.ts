import { longestPollMs } from "../../api/wire.ts";
import { TielineError } from "../../model/errors.ts";
import { command } from "../input/args.ts";
import type { Context } from "../command.ts";
import { newRows } from "../output/rows.ts";
import { count } from "../input/times.ts";
import { present } from "../output/present.ts";

const args = [{ name: "agent", complete: "agent", field: "agent" }] as const;
const flags = {
  lines: { short: "n", value: "N", parse: count, field: "lines" },
  follow: { short: "f", summary: "keep printing what is added, until Ctrl-C or the end of the pane" },
} as const;

export default command({
  name: "read",
  group: "Agents",
  operation: "read",
  usage: ["read <agent> [--follow]"],
  args,
  flags,
  examples: [
    ["tieline read engineer", "its screen"],
    ["tieline read engineer --lines 500 | less", "more of what scrolled away"],
    ["tieline read engineer --follow", "and what comes next"],
  ],
  run: (context) => (context.flags.follow ? follow(context) : readOnce(context)),
});

type Running = Context<typeof args, typeof flags>;

async function readOnce({ input, flags: { json }, daemon, terminal }: Running): Promise<number> {
  const screen = await daemon.call("read", input);
  return present(screen, screen.text.trimEnd().split("\n"), { flags: { json }, terminal });
}

async function follow({ input, flags: { json }, daemon, terminal }: Running): Promise<number> {
  let rows: readonly string[] = [];
  for (let mark = ""; ;) {
    const screen = await daemon
      .call("readNext", { ...input, mark, timeoutMs: longestPollMs })
      .catch((thrown: unknown) => {
        // What was followed has ended, which is how following ends.
        if (mark !== "" && thrown instanceof TielineError && thrown.code === "PANE_UNKNOWN") return null;
        throw thrown;
      });
    if (screen === null) return 0;
    if (screen.mark === mark) continue;
    const now = screen.text.split("\n");
    const added = newRows(rows, now);
    if (json) await terminal.json({ ...screen, added });
    else if (added.length > 0) await terminal.print(added);
    rows = now;
    mark = screen.mark;
  }
}
