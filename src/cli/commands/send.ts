import { command, usage } from "../input/args.ts";
import { conclude, draftOf, sendingFlags, textMeaning } from "../steps/sending.ts";

const send = command({
  name: "send",
  group: "Messages",
  operation: "send",
  usage: ["send <to> [message…]", "send <message> --to <name>"],
  details: [
    "With --wait it returns when the message has reached the given state, and shows every change until then.",
    "An address is a name, role or id (engineer), a name in another team (web:engineer), a pane (%14), @all, " +
      "a team or alias (@reviewers), * for every live agent, or user.",
    "Everything after -- is text.",
  ],
  args: [
    { name: "to", optional: true, complete: "agent", field: "to" },
    { name: "message", optional: true, many: true, ...textMeaning },
  ],
  flags: {
    to: { value: "NAME", complete: "agent", field: "to", note: "then all arguments are text" },
    ...sendingFlags,
    "reply-to": { value: "TAG", complete: "tag", field: "replyTo" },
    "expect-reply": { field: "expectsReply" },
    spawn: { field: "spawn" },
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
