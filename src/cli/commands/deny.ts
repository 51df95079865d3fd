import { command } from "../input/args.ts";
import { answerRequest, verdictArgs, verdictDetails } from "../steps/verdict.ts";

export default command({
  name: "deny",
  group: "Messages",
  uses: ["answerRequest", "requests"],
  summary: "Deny what an agent asks for; without a tag, list what is asked.",
  usage: ["deny", "deny <tag> [why…]"],
  details: verdictDetails,
  args: verdictArgs,
  flags: {},
  examples: [['tieline deny MSG_SCOUT_7f3a91c2 "not on main"', "refuse it, and say why"]],
  run: ({ args, flags, daemon, terminal }) =>
    answerRequest({ approve: false, ...args }, { daemon, terminal, json: flags.json ?? false }),
});
