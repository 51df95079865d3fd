import { command } from "../args.ts";
import { agentTable } from "../agent-table.ts";

export default command({
  name: "adopt",
  group: "Agents",
  summary: "make a program that runs already an agent",
  usage: ["adopt <pane> --name <name>"],
  details: ["The pane is a tmux pane such as %14. A bare shell is adopted only with --provider shell, because what is written there is executed."],
  args: [{ name: "pane", summary: "the tmux pane that it runs in" }],
  flags: {
    name: { value: "NAME", required: true, summary: "what others call it" },
    provider: { value: "PROVIDER", summary: "which program it is: generic, shell, claude-code, codex; found out when left out" },
    workspace: { value: "DIR", complete: "directory", summary: "the directory that it works in" },
    role: { value: "ROLE", summary: "a label that several agents may share" },
  },
  examples: [
    ["tieline adopt %14 --name engineer", "whatever runs in pane %14"],
    ["tieline adopt %3 --name reviewer --provider claude-code --team web", "a Claude Code session, in team web"],
  ],
  async run({ args, flags, daemon, terminal }) {
    const { name, provider, role } = flags;
    const agent = await daemon.call("adopt", {
      target: args.pane,
      name,
      ...(provider !== undefined && { provider }),
      ...(flags.workspace !== undefined && { workspace: absolute(flags.workspace) }),
      ...(role !== undefined && { role }),
    });
    if (flags.json) await terminal.json(agent);
    else await terminal.print(agentTable([agent], terminal, { now: Date.now(), teams: true }));
    return 0;
  },
});

/** The daemon works elsewhere, so it cannot know what a relative path is relative to. */
const absolute = (path: string): string => (path.startsWith("/") ? path : `${process.cwd()}/${path}`);
