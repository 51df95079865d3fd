import { command } from "../input/args.ts";
import { answerRequest, verdictArgs, verdictDetails } from "../steps/verdict.ts";

export default command({
  name: "approve",
  group: "Messages",
  uses: ["answerRequest", "requests"],
  summary: "Approve what an agent asks for; without a tag, list what is asked.",
  usage: ["approve", "approve <tag> [text…]"],
  details: verdictDetails,
  args: verdictArgs,
  flags: {},
  examples: [
    ["tieline approve", "what waits for your word"],
    ["tieline approve MSG_SCOUT_7f3a91c2", "let it"],
    ['tieline approve MSG_SCOUT_7f3a91c2 "but leave the tests alone"', "with a word of your own"],
  ],
  run: ({ args, flags, daemon, terminal }) =>
    answerRequest({ approve: true, ...args }, { daemon, terminal, json: flags.json ?? false }),
});
