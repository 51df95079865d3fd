import { presentAgent } from "../output/agentTable.ts";
import { command } from "../input/args.ts";

export default command({
  name: "interrupt",
  group: "Agents",
  operation: "interrupt",
  usage: ["interrupt <agent>"],
  details: [
    "Presses the program's interrupt key, but only while it is working. It does not close dialogs; use " +
      "`tieline answer` for those.",
  ],
  args: [{ name: "agent", complete: "agent", field: "agent" }],
  flags: {},
  examples: [["tieline interrupt engineer", "stop its turn"]],
  async run({ input, flags, daemon, terminal }) {
    const agent = await daemon.call("interrupt", input);
    return presentAgent(agent, { flags, terminal });
  },
});
