/** Loop guards: two agents that answer each other politely must come to an end. People and objects are exempt. */
import { personId, type Agent } from "./model/agent.ts";
import { TielineError } from "./model/errors.ts";
import type { Clock } from "./model/ids.ts";
import type { Message, Sender } from "./model/message.ts";
import type { Mailbox } from "./mailbox/port.ts";

export interface GuardLimits {
  readonly maxHops: number;
  readonly perPairPerMinute: number;
  readonly perSenderPerMinute: number;
}

export type Guard = (from: Sender, recipients: readonly Agent[], inReplyTo: Message | null) => number;

const minuteMs = 60_000;

/** Answers how many hops the message makes, or refuses it. */
export function loopGuard(mailbox: Pick<Mailbox, "sentSince" | "hopsAround">, limits: GuardLimits, clock: Clock): Guard {
  return (from, recipients, inReplyTo) => {
    if (from.id === personId || from.knownBy === "object") return 0;
    const hops = 1 + (inReplyTo?.hops ?? mailbox.hopsAround(from.id));
    if (hops > limits.maxHops) throw tooManyHops(hops, limits.maxHops);
    const since = clock() - minuteMs;
    if (mailbox.sentSince(from.id, null, since) >= limits.perSenderPerMinute) {
      throw tooFast(`${from.name} sent ${limits.perSenderPerMinute} messages within a minute`, limits.perSenderPerMinute);
    }
    for (const { id, name } of recipients) {
      if (id !== personId && mailbox.sentSince(from.id, id, since) >= limits.perPairPerMinute) {
        throw tooFast(`${from.name} sent ${limits.perPairPerMinute} messages to ${name} within a minute`, limits.perPairPerMinute);
      }
    }
    return hops;
  };
}

const tooManyHops = (hops: number, limit: number): TielineError =>
  new TielineError("HOP_LIMIT", `this conversation went back and forth ${hops - 1} times without a person; the limit is ${limit}`, {
    remedy: "stop answering; report to `user`, who can go on with a message of their own",
    operands: { hops, limit },
  });

const tooFast = (what: string, limit: number): TielineError =>
  new TielineError("RATE_LIMITED", `${what}, which is the limit`, {
    remedy: "wait a minute, and put several points into one message",
    operands: { limit },
  });
