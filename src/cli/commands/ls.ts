import { command } from "../args.ts";
import { agentTable } from "../agent-table.ts";

export default command({
  name: "ls",
  group: "Agents",
  summary: "list the agents, what they do, and what mail waits for them",
  usage: ["ls"],
  args: [],
  flags: {
    all: { short: "a", summary: "every team, not only yours" },
    watch: { short: "w", summary: "keep showing it, until Ctrl-C" },
    names: { summary: "only the names, one on a line" },
  },
  examples: [
    ["tieline ls", "your team"],
    ["tieline ls --all --watch", "every team, live"],
    ["tieline ls --json | jq -r '.[] | select(.pending > 0) | .name'", "who has mail waiting"],
  ],
  async run({ flags, daemon, terminal }) {
    const all = flags.all ? { all: true } : {};
    if (flags.watch) {
      const { watchAgents } = await import("../watch.ts");
      return watchAgents(daemon, terminal, { ...all, json: flags.json ?? false });
    }
    const agents = await daemon.call("ls", all);
    if (flags.json) await terminal.json(agents);
    else if (flags.names) await terminal.write(agents.map(({ name }) => `${name}\n`).join(""));
    else await terminal.print(agentTable(agents, terminal, { now: Date.now(), teams: flags.all ?? false }));
    return 0;
  },
});
