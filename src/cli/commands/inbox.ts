import type { Client } from "../../client/client.ts";
import type { InboxView } from "../../client/schema.ts";
import { withoutFrames } from "../../model/frames.ts";
import { linesOf } from "../../model/visible.ts";
import { command } from "../args.ts";
import { mark } from "../receipts.ts";
import { apart } from "../rows.ts";
import type { Paint } from "../terminal.ts";
import { count, span } from "../times.ts";
import { howToAnswer } from "../verdict.ts";

export default command({
  name: "inbox",
  group: "Messages",
  summary: "read the mail of an agent, or your own",
  usage: ["inbox [agent]"],
  details: ["Reading your own mail marks it as seen. --peek only looks."],
  args: [{ name: "agent", optional: true, complete: "agent", summary: "whose mail; yours when left out" }],
  flags: {
    pending: { summary: "only what still waits" },
    peek: { summary: "look without marking anything as seen" },
    limit: { value: "N", parse: count, summary: "at most that many" },
  },
  examples: [
    ["tieline inbox", "your own mail"],
    ["tieline inbox engineer --pending", "what engineer has not got yet, and why"],
    ["tieline inbox --json | jq -r '.[].body'", "for scripts"],
  ],
  async run({ args, flags, daemon, terminal }) {
    const mail = await daemon.call("inbox", {
      ...(args.agent !== undefined && { agent: args.agent }),
      ...(flags.pending && { pending: true }),
      ...(flags.peek && { peek: true }),
      ...(flags.limit !== undefined && { limit: flags.limit }),
    });
    if (flags.json) await terminal.json(mail);
    else if (mail.length === 0) await terminal.print(terminal.paint("dim", flags.pending ? "nothing waits" : "no mail"));
    else await terminal.print(apart(mail.map((message) => letter(message, terminal.paint, Date.now()))));
    await confirmShown(mail, daemon);
    return 0;
  },
});

/** Only what was printed counts as seen; a reader that died before gets its mail again. */
async function confirmShown(mail: readonly InboxView[], daemon: Client): Promise<void> {
  const deliveries = mail.flatMap(({ delivery }) => delivery ?? []);
  if (deliveries.length > 0) await daemon.call("collected", { deliveries });
}

function letter(message: InboxView, paint: Paint, now: number): string[] {
  const fetched = message.delivery !== undefined;
  const state = fetched ? "new" : message.reason === null ? message.state : `${message.state}: ${message.reason}`;
  const answers = message.answers === null ? "" : `, answers ${message.answers}`;
  const head = `${mark(fetched ? "seen" : message.state, paint)} ${paint("bold", message.tag)} from ${message.from}   ${paint("dim", `${span(now - message.at)} ago, ${state}${answers}`)}`;
  const body = linesOf(withoutFrames(message.request?.text ?? message.body).trimEnd()).map((line) => `  ${line}`);
  return [head, ...body, ...(message.request ? [howToAnswer(message.tag, paint)] : [])];
}
