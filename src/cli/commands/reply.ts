import { command } from "../args.ts";
import { conclude, draftOf, sendingFlags } from "../sending.ts";

export default command({
  name: "reply",
  group: "Messages",
  summary: "answer a message",
  usage: ["reply <tag> [message…]"],
  details: [
    "Goes to the sender of that message, and marks it as answered. An agent may reply to what it got, " +
      "whatever the topology says.",
  ],
  args: [
    { name: "tag", complete: "tag", summary: "the message to answer, such as MSG_USER_7f3a91c2" },
    { name: "message", optional: true, many: true, summary: "the text; several words are joined by spaces" },
  ],
  flags: sendingFlags,
  examples: [
    ['tieline reply MSG_USER_7f3a91c2 "fixed in 3f2a1c0"', "answer in words"],
    ["tieline reply MSG_USER_7f3a91c2 -f report.md", "answer with the text of a file"],
  ],
  async run({ args, flags, home, daemon, terminal }) {
    const draft = await draftOf(args.message, flags);
    const receipt = await daemon.call("reply", { tag: args.tag, ...draft });
    return conclude(receipt, { home, flags, daemon, terminal });
  },
});
