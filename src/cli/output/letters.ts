import type { Client } from "../../client/client.ts";
import type { InboxView } from "../../api/schema.ts";
import { withoutFrames } from "../../model/frames.ts";
import { linesOf } from "../../model/visible.ts";
import type { Name } from "./names.ts";
import { mark } from "./receipts.ts";
import type { Paint } from "./terminal.ts";
import { span } from "../input/times.ts";
import { howToAnswer } from "../steps/verdict.ts";

/** Only what was printed counts as seen; a reader that died before gets its mail again. */
export async function confirmShown(mail: readonly InboxView[], daemon: Client): Promise<void> {
  const deliveries = mail.flatMap(({ delivery }) => delivery ?? []);
  if (deliveries.length > 0) await daemon.call("collected", { deliveries });
}

/** A message as a reader of mail sees it. */
export function letter(message: InboxView, nameOf: Name, paint: Paint, now: number): string[] {
  const fetched = message.delivery !== undefined;
  const state = fetched ? "new" : message.reason === null ? message.state : `${message.state}: ${message.reason}`;
  const answers = message.answers === null ? "" : `, answers ${message.answers}`;
  const head =
    `${mark(fetched ? "seen" : message.state, paint)} ${paint("bold", message.tag)} from ` +
    `${nameOf(message.team, message.from)}   ` +
    `${paint("dim", `${span(now - message.at)} ago, ${state}${answers}`)}`;
  const body = linesOf(withoutFrames(message.text).trimEnd()).map((line) => `  ${line}`);
  const { answered } = message;
  const verdict = answered ? [paint("dim", `  ${answered.approved ? "approved" : "denied"} by ${answered.tag}`)] : [];
  return [head, ...body, ...(message.request ? [howToAnswer(message.tag, paint)] : verdict)];
}
