import { command } from "../input/args.ts";
import { conclude, draftOf, sendingFlags, textMeaning } from "../steps/sending.ts";

export default command({
  name: "reply",
  group: "Messages",
  operation: "reply",
  usage: ["reply <tag> [message…]"],
  details: ["An agent may reply to what it got, whatever the topology says."],
  args: [
    { name: "tag", complete: "tag", field: "tag" },
    { name: "message", optional: true, many: true, ...textMeaning },
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
