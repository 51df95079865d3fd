/** Replies that are being written inside conversations, one for each. They survive a reload and a failed send. */
import type { ReceiptView } from "../../src/client/browser.ts";
import { inTeam } from "../api.ts";
import { kept } from "../kept.ts";
import { mergeReceipts } from "../messages.ts";

export interface Reply {
  readonly body: string;
  /** What sending it is known by, so that sending it again after a failure is not a second message. */
  readonly key: string;
}

/** The oldest drafts make room for new ones. */
const mostReplies = 20;
const replies = kept<Readonly<Record<string, Reply>>>("replies", {});

export const replyIn = (thread: string): Reply | null => replies.value[thread] ?? null;

export function writeReply(thread: string, body: string): void {
  const { [thread]: _, ...others } = replies.peek();
  const room = Object.entries(others).slice(1 - mostReplies);
  replies.value = Object.fromEntries([
    ...room,
    ...(body === "" ? [] : [[thread, { body, key: crypto.randomUUID() }] as const]),
  ]);
}

/** Someone of the conversation: `to` is an address, `isSender` the one whom a plain reply goes to. */
export interface Correspondent {
  readonly name: string;
  readonly to: string;
  readonly isSender: boolean;
}

const cannotBeWrittenTo = ["user", "tieline"];

/** Whom a reply to this message may go to: its sender, or, of one's own message, those who got it. */
export function correspondentsOf({ from, to, team, deliveries }: ReceiptView): readonly Correspondent[] {
  const sender = cannotBeWrittenTo.includes(from) ? [] : [{ name: from, to: `${team}:${from}`, isSender: true }];
  const recipients = deliveries
    .filter(({ agent }) => !cannotBeWrittenTo.includes(agent))
    .map(({ agent, team: of }) => ({ name: agent, to: of === null ? agent : `${of}:${agent}`, isSender: false }));
  const everyone = from === "user" && recipients.length > 1 ? [{ name: to, to, isSender: false }] : [];
  return [...sender, ...everyone, ...recipients];
}

/** Sends what was written. The draft goes only after the daemon has it. */
export async function sendReply(answered: ReceiptView, { to, isSender }: Correspondent): Promise<ReceiptView> {
  const { tag, team, thread } = answered;
  const reply = replyIn(thread);
  if (reply === null) throw new Error("there is nothing to send");
  const { body, key } = reply;
  const receipt = isSender
    ? await inTeam(team).call("reply", { tag, body, key })
    : await inTeam(team).call("send", { to, replyTo: tag, body, key });
  mergeReceipts([receipt]);
  if (replyIn(thread)?.key === key) writeReply(thread, "");
  return receipt;
}
