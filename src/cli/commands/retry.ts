import { command } from "../args.ts";
import { presentReceipt } from "../receipts.ts";

export default command({
  name: "retry",
  group: "Messages",
  summary: "send a failed, expired, cancelled or uncertain message again",
  usage: ["retry <tag>"],
  details: [
    "It keeps its tag and text. An uncertain message may have arrived already; look before you retry it.",
    "If its recipient was removed, it goes to the agent that has that name now, or that a profile of that " +
      "name starts. Without either, retry is refused.",
  ],
  args: [{ name: "tag", complete: "tag", summary: "the message, such as MSG_USER_7f3a91c2" }],
  flags: { agent: { value: "NAME", complete: "agent", summary: "only its delivery to this agent" } },
  examples: [
    ["tieline retry MSG_USER_7f3a91c2", "for every recipient"],
    ["tieline retry MSG_USER_7f3a91c2 --agent engineer", "for one of them"],
  ],
  async run({ args, flags, daemon, terminal }) {
    const receipt = await daemon.call("retry", {
      tag: args.tag,
      ...(flags.agent !== undefined && { agent: flags.agent }),
    });
    return presentReceipt(receipt, { flags, terminal });
  },
});
