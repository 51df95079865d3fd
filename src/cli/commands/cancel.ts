import { command } from "../input/args.ts";
import { presentReceipt } from "../output/receipts.ts";

export default command({
  name: "cancel",
  group: "Messages",
  operation: "cancel",
  usage: ["cancel <tag>"],
  details: ["A message that was already written cannot be cancelled."],
  args: [{ name: "tag", complete: "tag", field: "tag" }],
  flags: { agent: { value: "NAME", complete: "agent", field: "agent" } },
  examples: [
    ["tieline cancel MSG_USER_7f3a91c2", "for every recipient"],
    ["tieline cancel MSG_USER_7f3a91c2 --agent engineer", "for one of them"],
  ],
  async run({ input, flags, daemon, terminal }) {
    const receipt = await daemon.call("cancel", input);
    return presentReceipt(receipt, { flags, terminal });
  },
});
