import { command } from "../args.ts";
import { count } from "../times.ts";

export default command({
  name: "read",
  group: "Agents",
  summary: "print what an agent's pane shows",
  usage: ["read <agent>"],
  args: [{ name: "agent", complete: "agent", summary: "which one" }],
  flags: { lines: { short: "n", value: "N", parse: count, summary: "how many lines back; terminal.readLines when left out" } },
  examples: [
    ["tieline read engineer", "its screen"],
    ["tieline read engineer --lines 500 | less", "more of what scrolled away"],
  ],
  async run({ args, flags, daemon, terminal }) {
    const screen = await daemon.call("read", { agent: args.agent, ...(flags.lines !== undefined && { lines: flags.lines }) });
    if (flags.json) await terminal.json(screen);
    else await terminal.print(screen.text.trimEnd());
    return 0;
  },
});
