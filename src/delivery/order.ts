/**
 * Mail of one sender and one urgency is read in the order in which it was accepted, although it can go two ways at the
 * same time: pushed to the agent, and fetched by it. A message waits while an earlier one is on the other way.
 */
import type { InboxRow, Mailbox } from "../mailbox/port.ts";
import { provesSeen, type Delivery, type Proof } from "../model/delivery.ts";
import type { AgentId, Clock } from "../model/ids.ts";
import { Ages } from "../os/ages.ts";
import { rankOf } from "../model/message.ts";

export interface OrderParts {
  readonly mailbox: Pick<Mailbox, "inbox" | "deliveriesIn" | "message">;
  /** The best proof that a transport can ever give; null: there is no such transport. */
  readonly bestProof: (transport: string) => Proof | null;
  readonly clock?: Clock;
}

export type Ordered = Pick<InboxRow, "message" | "delivery">;

/** What is not proved to be read after this time delays no other message. */
const underwayMs = 10_000;
/** An uncertain attempt delays others for this long: by then three inspections had time to prove that it is absent. */
const doubtMs = 10_000;
/** More than can be on its way to one agent in that time without having been read. */
const recentMail = 200;

export class Order {
  private readonly ages: Ages;

  constructor(private readonly parts: OrderParts) {
    this.ages = new Ages(parts.clock);
  }

  /** Mail that the agent may not have read yet, and that a reader of `transport` must not overtake. */
  underway(agent: AgentId, transport: string): Ordered[] {
    return this.parts.mailbox
      .inbox(agent, { limit: recentMail })
      .filter(({ delivery }) => this.isUnderway(delivery, transport));
  }

  /**
   * Whether an earlier message is being fetched at this moment, or may turn out not to have arrived. Then the earlier
   * one waits again, and goes first.
   */
  mayComeBefore({ message, delivery }: Ordered): "fetched" | "uncertain" | null {
    const { mailbox } = this.parts;
    const earlier = mailbox
      .deliveriesIn(["claimed", "uncertain"])
      .filter((one) => one.agent === delivery.agent && (one.lane === "pull" || this.isInDoubt(one)))
      .find((one) => comesBefore({ message: mailbox.message(one.messageId)!, delivery: one }, { message, delivery }));
    return earlier === undefined ? null : earlier.state === "claimed" ? "fetched" : "uncertain";
  }

  /** Senders do not wait for each other: the first one behind a delivery that waits for an earlier one, if any. */
  firstBehind({ agent, when }: Delivery, now: number): Delivery | null {
    const rows = this.parts.mailbox.inbox(agent, {
      ...{ pending: true, oldest: true, wakes: true, when: [when], limit: recentMail },
    });
    const free = rows.find(
      ({ message, delivery }) =>
        delivery.state === "queued" &&
        (delivery.availableAt ?? 0) <= now &&
        this.mayComeBefore({ message, delivery }) === null &&
        !rows.some((row) => row.delivery.state === "queued" && comesBefore(row, { message, delivery })),
    );
    return free?.delivery ?? null;
  }

  /** For a while after an attempt, an inspection may still prove that nothing arrived. */
  private isInDoubt({ id, state, claimedAt }: Delivery): boolean {
    return state === "uncertain" && this.ages.of(String(id), claimedAt ?? 0) <= doubtMs;
  }

  /**
   * What the same reader has fetched it has in order. One that is still fetching may have died, and then the message
   * waits again. A program may keep what was pushed to it in a queue of its own; that its conversation holds it proves
   * that it left that.
   */
  private isUnderway(delivery: Delivery, reader: string): boolean {
    const { id, state, lane, claimedAt, transport, proof: known } = delivery;
    const byReader = transport === reader && lane !== "push";
    if (state === "claimed") return true;
    if (state === "uncertain") return this.isInDoubt(delivery);
    if (this.ages.of(String(id), claimedAt ?? 0) > underwayMs) return false;
    if (state !== "delivered" || transport === null || byReader) return false;
    if (known === "submitted") return false;
    const proof = this.parts.bestProof(transport);
    return proof !== null && provesSeen(proof);
  }
}

export function comesBefore(a: Ordered, b: Ordered): boolean {
  return (
    a.message.from.id === b.message.from.id &&
    a.delivery.id < b.delivery.id &&
    rankOf(a.delivery.when) <= rankOf(b.delivery.when)
  );
}
