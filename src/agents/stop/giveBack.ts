import type { Mailbox } from "../../mailbox/port.ts";
import type { Delivery } from "../../model/delivery.ts";
import { systemClock, type AgentId, type Clock } from "../../model/ids.ts";

type GivingMailbox = Pick<Mailbox, "inbox" | "claim" | "settle">;

/** Mail that can never arrive becomes a dead letter, and each sender is told. Answers how many. */
export async function giveBackMail(
  mailbox: GivingMailbox,
  agent: AgentId,
  why: string,
  clock: Clock = systemClock,
): Promise<number> {
  const pending = mailbox.inbox(agent, { pending: true, limit: Number.MAX_SAFE_INTEGER });
  return giveBack(
    mailbox,
    pending.map((row) => row.delivery),
    why,
    clock,
  );
}

export async function giveBack(
  mailbox: GivingMailbox,
  deliveries: readonly Delivery[],
  why: string,
  clock: Clock = systemClock,
): Promise<number> {
  let given = 0;
  for (const { id } of deliveries) {
    const claimed = await mailbox.claim(id, { lane: "pull", now: clock(), transport: "none" });
    if (claimed === null) continue;
    await mailbox.settle(id, { kind: "removed", detail: why }, { transport: null, authority: null });
    given++;
  }
  return given;
}
