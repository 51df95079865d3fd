import type { Mailbox } from "../../mailbox/port.ts";
import type { Delivery } from "../../model/delivery.ts";
import type { AgentId } from "../../model/ids.ts";

/** Mail that can never arrive becomes a dead letter, and each sender gets a bounce. Answers how many. */
export function giveBackMail(
  mailbox: Pick<Mailbox, "inbox" | "abandon">,
  agent: AgentId,
  why: string,
): Promise<number> {
  const pending = mailbox.inbox(agent, { pending: true, limit: Number.MAX_SAFE_INTEGER });
  return giveBack(
    mailbox,
    pending.map((row) => row.delivery),
    why,
  );
}

export async function giveBack(
  mailbox: Pick<Mailbox, "abandon">,
  deliveries: readonly Delivery[],
  why: string,
): Promise<number> {
  const abandoned = await Promise.all(deliveries.map(({ id }) => mailbox.abandon(id, why)));
  return abandoned.filter((one) => one !== null).length;
}
