import { presentAgent } from "../agentTable.ts";
import { command } from "../args.ts";

export default command({
  name: "interrupt",
  group: "Agents",
  summary: "stop what an agent does now",
  usage: ["interrupt <agent>"],
  details: [
    "Presses the key by which a user stops the running turn of this program. Only while it works: elsewhere " +
      "the same key would do something else. A dialog is not closed by it; `tieline answer` is for those.",
  ],
  args: [{ name: "agent", complete: "agent", summary: "which one" }],
  flags: {},
  examples: [["tieline interrupt engineer", "stop its turn"]],
  async run({ args, flags, daemon, terminal }) {
    const agent = await daemon.call("interrupt", { agent: args.agent });
    return presentAgent(agent, { flags, terminal });
  },
});
