/** Loop guards: two agents that answer each other politely must come to an end. People and objects are exempt. */
import { userId } from "../model/agent.ts";
import { TielineError } from "../model/errors.ts";
import type { Clock } from "../model/ids.ts";
import type { Message, Sender } from "../model/message.ts";
import type { Mailbox } from "../mailbox/port.ts";
import { Pace } from "./pace.ts";
import type { RouterParts } from "./router.ts";

export interface GuardLimits {
  readonly maxHops: number;
  readonly perPairPerMinute: number;
  readonly perSenderPerMinute: number;
}

/** Hops and the sender's pace refuse a message as a whole; the pace towards one recipient refuses that one alone. */
export function loopGuard(
  mailbox: Pick<Mailbox, "sentSince" | "hopsAround" | "onTransitions">,
  limits: GuardLimits,
  clock: Clock,
): RouterParts["guard"] {
  const pace = new Pace(mailbox, clock);
  return (from, recipients, inReplyTo) => {
    if (from.id === userId) return { hops: 0, refused: [] };
    if (from.knownBy === "object") return { hops: hopsThrough(inReplyTo), refused: [] };
    // An answer to something old does not begin the count again: what its sender was delivered since counts, too.
    const hops = 1 + Math.max(inReplyTo?.hops ?? 0, mailbox.hopsAround(from.id));
    const others = recipients.filter(({ id }) => id !== userId);
    if (hops > limits.maxHops && others.length > 0) throw tooManyHops(hops, limits.maxHops);
    const sent = pace.lastMinute(from.id, null);
    if (sent >= limits.perSenderPerMinute) throw tooFast(from, "", limits.perSenderPerMinute);
    // No recipient got more from a sender than it sent in all, which spares most senders the count for each recipient.
    const crowded =
      sent < limits.perPairPerMinute
        ? []
        : others.filter(({ id }) => pace.lastMinute(from.id, id) >= limits.perPairPerMinute);
    return {
      hops,
      refused: crowded.map(({ id, name }) => ({
        id,
        agent: name,
        error: tooFast(from, ` to ${name}`, limits.perPairPerMinute),
      })),
    };
  };
}

/**
 * Asking an object again and again is work; answering its answer goes round in circles. An object itself is never
 * refused.
 */
const hopsThrough = (answered: Message | null): number => (answered?.inReplyTo ? answered.hops + 1 : 0);

const tooManyHops = (hops: number, limit: number): TielineError =>
  new TielineError(
    "HOP_LIMIT",
    `this conversation went back and forth ${hops - 1} times without a user; the limit is ${limit}`,
    {
      remedy: "stop replying and report to `user`; a message from the user resets the count",
      operands: { hops, limit },
    },
  );

const tooFast = (from: Sender, to: string, limit: number): TielineError =>
  new TielineError("RATE_LIMITED", `${from.name} sent ${limit} messages${to} within a minute, which is the limit`, {
    remedy: "wait a minute, and put several points into one message",
    operands: { limit },
  });
