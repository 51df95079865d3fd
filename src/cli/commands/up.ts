import { command } from "../args.ts";
import { agentTable } from "../agentTable.ts";
import { complainOf, isEmpty, noAgents } from "../notStarted.ts";
import { onceTrusted } from "../trusting.ts";

export default command({
  name: "up",
  group: "Project",
  summary: "start the agents of this project's tieline.yaml",
  usage: ["up [agent…]"],
  details: [
    "Without names, the whole team is started, and the names in its topology are checked first. An agent " +
      "that can not be started does not keep the others from it; the command exits with 4 then.",
    "A project that is new, or that can start other things than before, has to be trusted first (see " +
      "`tieline help trust`): on a terminal you are asked, elsewhere nothing is started.",
  ],
  args: [{ name: "agent", optional: true, many: true, summary: "only these" }],
  flags: {},
  examples: [
    ["tieline up", "all of them"],
    ["tieline up engineer reviewer", "two of them"],
  ],
  async run({ args, flags, daemon, terminal }) {
    const up = () => daemon.call("up", args.agent.length === 0 ? {} : { only: [...args.agent] });
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
        : [...agentTable(result.started, terminal, { now: Date.now(), teams: false }), ""]),
      ...(result.already.length === 0 ? [] : [paint("dim", `already there: ${result.already.join(", ")}`)]),
      `attach: ${paint("bold", result.attach)}`,
    ];
    await terminal.print(lines);
    await complainOf(result.failed, terminal);
    return result.failed.length === 0 ? 0 : 4;
  },
});
