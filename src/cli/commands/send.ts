import { command, usage } from "../args.ts";
import { conclude, draftOf, sendingFlags } from "../sending.ts";

const send = command({
  name: "send",
  group: "Messages",
  summary: "write to an agent by name",
  usage: ["send <to> [message…]", "send <message> --to <name>"],
  details: [
    "Returns when the message is on disk. With --wait it returns when the message has reached the given " +
      "state, and shows every change until then.",
    "An address is a name, role or id (engineer), a name in another team (web:engineer), a pane (%14), @all, " +
      "a team or alias (@reviewers), * for every live agent, or user.",
    "Everything after -- is text.",
  ],
  args: [
    { name: "to", optional: true, complete: "agent", summary: "the recipient" },
    { name: "message", optional: true, many: true, summary: "the text; several words are joined by spaces" },
  ],
  flags: {
    to: { value: "NAME", complete: "agent", summary: "the address, if all arguments are text" },
    ...sendingFlags,
    "reply-to": { value: "TAG", complete: "tag", summary: "the message that this one answers" },
    "expect-reply": { summary: "tell the agent that an answer is expected" },
    spawn: { summary: "with @all or a team: start members that are offline" },
  },
  examples: [
    ['tieline send engineer "the login test fails on Safari, please look"', "queue it and return"],
    ['tieline send engineer --wait seen "please look"', "return when the model was given the text"],
    ["tieline send engineer -f notes.md", "the text of a file"],
    ["git diff | tieline send reviewer -", "the text from stdin"],
    ['tieline send engineer --when interrupt "do not touch auth.ts"', "before its next tool call"],
    ["tieline send engineer -- -v means verbose", "text that begins with a dash"],
  ],
  async run({ args, flags, home, daemon, terminal }) {
    const { to, words } = addressed(args, flags.to);
    const draft = await draftOf(words, flags);
    const receipt = await daemon.call("send", {
      to,
      ...draft,
      ...(flags["reply-to"] !== undefined && { replyTo: flags["reply-to"] }),
      ...(flags["expect-reply"] && { expectsReply: true }),
      ...(flags.spawn && { spawn: true }),
    });
    return conclude(receipt, { home, flags, daemon, terminal });
  },
});
export default send;

/** With --to every word is message, also the one that would have been the address. */
function addressed(
  args: { to: string | undefined; message: readonly string[] },
  to: string | undefined,
): { to: string; words: readonly string[] } {
  if (to !== undefined) return { to, words: args.to === undefined ? [] : [args.to, ...args.message] };
  if (args.to === undefined) throw usage(send, "<to> is missing");
  return { to: args.to, words: args.message };
}
