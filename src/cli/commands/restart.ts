import { presentAgent } from "../agent-table.ts";
import { command } from "../args.ts";

export default command({
  name: "restart",
  group: "Agents",
  summary: "end an agent and start it again",
  usage: ["restart <agent>"],
  details: [
    "The same conversation goes on, where the program can. Mail that waits is delivered afterwards.",
  ],
  args: [{ name: "agent", complete: "agent", summary: "which one" }],
  flags: {},
  examples: [["tieline restart engineer", "after a change of its profile"]],
  async run({ args, flags, daemon, terminal }) {
    const agent = await daemon.call("restart", { agent: args.agent });
    return presentAgent(agent, { flags, terminal });
  },
});
