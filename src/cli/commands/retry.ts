import { command } from "../input/args.ts";
import { presentReceipt } from "../output/receipts.ts";

export default command({
  name: "retry",
  group: "Messages",
  operation: "retry",
  usage: ["retry <tag>"],
  details: [
    "It keeps its tag and text. An uncertain message may have arrived already; look before you retry it.",
    "If its recipient was removed, it goes to the agent that has that name now, or that a profile of that " +
      "name starts. Without either, retry is refused.",
  ],
  args: [{ name: "tag", complete: "tag", field: "tag" }],
  flags: { agent: { value: "NAME", complete: "agent", field: "agent" } },
  examples: [
    ["tieline retry MSG_USER_7f3a91c2", "for every recipient"],
    ["tieline retry MSG_USER_7f3a91c2 --agent engineer", "for one of them"],
  ],
  async run({ input, flags, daemon, terminal }) {
    const receipt = await daemon.call("retry", input);
    return presentReceipt(receipt, { flags, terminal });
  },
});
