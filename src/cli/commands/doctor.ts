import type { Check } from "../../client/schema.ts";
import { asTielineError } from "../../model/errors.ts";
import { command } from "../args.ts";
import type { Context } from "../command.ts";
import type { Paint, Style } from "../terminal.ts";

export default command({
  name: "doctor",
  group: "Tieline itself",
  summary: "check everything that Tieline needs",
  usage: ["doctor"],
  details: ["tmux, versions, socket, clock, disk, and a probe through every way in that is set up. Exits with 5 when something failed."],
  args: [],
  flags: {},
  examples: [["tieline doctor", "what works, what does not, and what to do about it"]],
  async run({ flags, daemon, terminal }) {
    const checks = await examine(daemon);
    if (flags.json) await terminal.json(checks);
    else {
      const width = Math.max(...checks.map(({ name }) => name.length));
      await terminal.print(checks.flatMap((check) => lines(check, width, terminal.paint)));
    }
    return checks.some(({ status }) => status === "failed") ? 5 : 0;
  },
});

/** A daemon that cannot be reached is the first finding, not the end of the examination. */
async function examine(daemon: Context["daemon"]): Promise<Check[]> {
  try {
    return await daemon.call("doctor", {});
  } catch (thrown) {
    const { code, message, remedy } = asTielineError(thrown);
    return [{ name: "daemon", status: "failed", detail: `${code}: ${message}`, remedy }];
  }
}

const marks: Record<Check["status"], readonly [string, Style]> = { ok: ["✓", "green"], warning: ["!", "yellow"], failed: ["✗", "red"] };

function lines({ name, status, detail, remedy }: Check, width: number, paint: Paint): string[] {
  const [mark, style] = marks[status];
  const head = `${paint(style, mark)} ${paint("bold", name.padEnd(width))}   ${detail}`;
  return remedy === null || status === "ok" ? [head] : [head, `  ${" ".repeat(width + 3)}${paint("dim", remedy)}`];
}
