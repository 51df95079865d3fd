import { command } from "../input/args.ts";
import { agentTable } from "../output/agentTable.ts";
import { complainOf, isEmpty, noAgents } from "../output/notStarted.ts";
import { onceTrusted } from "../steps/trusting.ts";

export default command({
  name: "up",
  group: "Project",
  operation: "up",
  usage: ["up [agent…]"],
  details: [
    "Without names, the whole team is started, and its topology is checked first. If an agent cannot be " +
      "started, the others still are, and the command exits with 4.",
    "A new or changed project must be trusted first (see `tieline help trust`): on a terminal the " +
      "command asks; without one, nothing is started.",
  ],
  args: [{ name: "agent", optional: true, many: true, field: "only" }],
  flags: {},
  examples: [
    ["tieline up", "all of them"],
    ["tieline up engineer reviewer", "two of them"],
  ],
  async run({ input, flags, daemon, terminal }) {
    const up = () => daemon.call("up", input);
    const result = await onceTrusted(up, { flags, daemon, terminal });
    if (flags.json) {
      await terminal.json(result);
      return result.failed.length === 0 ? 0 : 4;
    }
    if (isEmpty(result)) {
      await terminal.print(terminal.paint("dim", noAgents));
      return 0;
    }
    const { paint } = terminal;
    const lines = [
      ...(result.started.length === 0
        ? []
        : [...agentTable(result.started, terminal, { now: terminal.now(), teams: false }), ""]),
      ...(result.already.length === 0 ? [] : [paint("dim", `already running: ${result.already.join(", ")}`)]),
      `attach: ${paint("bold", result.attach)}`,
    ];
    await terminal.print(lines);
    await complainOf(result.failed, terminal);
    return result.failed.length === 0 ? 0 : 4;
  },
});
