/** The pull lane: an agent asks for its mail, and is given what is there, in order. */
import type { Mailbox } from "../mailbox/port.ts";
import type { Agent } from "../model/agent.ts";
import type { Authority, Delivery, Outcome } from "../model/delivery.ts";
import type { Clock } from "../model/ids.ts";
import type { Message, When } from "../model/message.ts";
import { goesByProtocol } from "./transportSelection.ts";
import { comesBefore, type Order } from "./order.ts";
import type { Transport } from "./transports/port.ts";

export interface Collection {
  readonly transport: string;
  readonly authority: Authority;
  readonly whens?: readonly When[];
  /** Asked about each message in turn before it is claimed: does it go this way, and does it still fit? */
  readonly take?: (message: Message) => boolean;
  readonly limit?: number;
  /** What is taken was asked for by its tag, so that earlier mail may stay behind. */
  readonly outOfOrder?: boolean;
}

export interface Collected {
  readonly items: readonly { message: Message; delivery: Delivery }[];
  /** One outcome for all, or one for each. */
  flushed(outcome: Outcome | ((message: Message) => Outcome)): Promise<void>;
}

export interface CollectParts {
  readonly mailbox: Pick<Mailbox, "inbox" | "claim" | "delivery">;
  readonly order: Pick<Order, "underway">;
  readonly settle: (
    delivery: Delivery,
    outcome: Outcome,
    via: { transport: string; authority: Authority },
  ) => Promise<void>;
  readonly transportOf: (name: string) => Transport;
  readonly clock: Clock;
}

export async function collectMail(
  { mailbox, order, settle, transportOf, clock }: CollectParts,
  agent: Agent,
  request: Collection,
): Promise<Collected> {
  const { transport, authority, whens, take = () => true, limit = 20, outOfOrder = false } = request;
  const due = mailbox.inbox(agent.id, { pending: true, oldest: true, limit: 1_000, ...(whens && { when: whens }) });
  const queued = due.filter(
    ({ message, delivery }) => delivery.state === "queued" && !goesByProtocol(agent, message, transportOf),
  );
  const items: { message: Message; delivery: Delivery }[] = [];
  const earlier = queued.length === 0 ? [] : order.underway(agent.id, transport);
  for (const row of queued) {
    if (items.length === limit) break;
    const isNext = (outOfOrder || !earlier.some((one) => comesBefore(one, row))) && take(row.message);
    const claimed = isNext
      ? await mailbox.claim(row.delivery.id, { lane: "pull", now: clock(), transport, authority })
      : null;
    if (claimed === null && !(isNext && hasFailed(mailbox, row.delivery))) earlier.push(row);
    else if (claimed !== null) items.push({ message: row.message, delivery: claimed });
  }
  return {
    items,
    async flushed(outcome) {
      const of = typeof outcome === "function" ? outcome : () => outcome;
      await Promise.all(items.map(({ message, delivery }) => settle(delivery, of(message), { transport, authority })));
    },
  };
}

/** A message that turned out to be damaged when it was claimed makes room for the next one. */
export const hasFailed = (mailbox: Pick<Mailbox, "delivery">, { id }: Delivery): boolean =>
  mailbox.delivery(id)?.state === "failed";
