import { agentTable } from "../output/agentTable.ts";
import { complainOf } from "../output/notStarted.ts";
import { command, usage } from "../input/args.ts";

const resume = command({
  name: "resume",
  group: "Agents",
  operation: "resume",
  usage: ["resume <agent…>", "resume --all"],
  details: [
    "Continues the same conversation if the program can, and starts a new one otherwise. After a reboot " +
      "or a restart of tmux, --all brings the whole team back.",
  ],
  args: [{ name: "agent", optional: true, many: true, complete: "agent", field: "agents" }],
  flags: { all: { summary: "every agent of the team that Tieline has started before" } },
  examples: [
    ["tieline resume engineer", "continue where it stopped"],
    ["tieline resume --all", "bring the team back"],
  ],
  async run({ args, flags, daemon, terminal }) {
    if ((args.agent.length === 0) !== (flags.all === true)) throw usage(resume, "name agents, or give --all");
    const result = await daemon.call("resume", flags.all ? {} : { agents: [...args.agent] });
    if (flags.json) await terminal.json(result);
    else {
      const { paint } = terminal;
      if (result.resumed.length > 0)
        await terminal.print(agentTable(result.resumed, terminal, { now: terminal.now(), teams: true }));
      if (result.already.length > 0)
        await terminal.print(paint("dim", `running already: ${result.already.join(", ")}`));
      if (result.resumed.length + result.already.length + result.failed.length === 0)
        await terminal.print(paint("dim", "nothing to resume"));
      await complainOf(result.failed, terminal);
    }
    return result.failed.length === 0 ? 0 : 4;
  },
});
export default resume;
