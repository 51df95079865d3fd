/**
 * What was laid into a native inbox is looked for once more when its reader has had time: it must be gone, and gone by
 * its reader. If it still lies there, the sender is warned; if it was overwritten, it is uncertain. Nothing is written
 * again, because there is no proof of what was read.
 */
import type { Mailbox } from "../../../../mailbox/port.ts";
import type { Agent } from "../../../../model/agent.ts";
import type { Delivery } from "../../../../model/delivery.ts";
import { elapsedFor, type AgentId, type Clock, type DeliveryId } from "../../../../model/ids.ts";
import { inboxAt, type InboxLayout } from "../../teams/teams.ts";
import { Ages } from "../../../../os/ages.ts";
import { runForever } from "../../../../os/runForever.ts";
import { createBell } from "../../../../os/watchFolder.ts";
import { claudeInbox, fileOf, rowOf } from "./transport.ts";
import { systemTimers, type Timers } from "../../../../os/timers.ts";

export interface FollowUpParts {
  readonly mailbox: Pick<Mailbox, "onTransitions" | "deliveriesIn" | "delivery" | "message" | "warn" | "settle">;
  readonly agent: (id: AgentId) => Agent | null;
  readonly layout: InboxLayout;
  readonly report: (context: string, fault: unknown) => void;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  readonly timers?: Timers;
  /** How long a reader may take. A running turn can keep a member from its inbox, so that this is long. */
  readonly patienceMs?: number;
}

/** Runs until the signal aborts. Never rejects. */
export async function followUpInboxes({
  mailbox,
  agent,
  layout,
  report,
  signal,
  clock,
  timers = systemTimers,
  patienceMs = 60_000,
}: FollowUpParts): Promise<void> {
  const bell = createBell(signal, timers);
  const elapsed = elapsedFor(clock);
  const ages = new Ages(clock);
  /** What to look for, and when. */
  const due = new Map<DeliveryId, number>();
  const consider = (delivery: Delivery): void => {
    if (!isLaid(delivery)) return;
    due.set(delivery.id, elapsed() + patienceMs - ages.of(String(delivery.id), delivery.updatedAt));
    bell.ring();
  };
  const stopListening = mailbox.onTransitions((changes) => changes.forEach(({ delivery }) => consider(delivery)));
  let begun = false;
  const step = async (): Promise<void> => {
    if (!begun) mailbox.deliveriesIn(["delivered"]).forEach(consider);
    begun = true;
    for (const id of [...due].filter(([, at]) => at <= elapsed()).map(([delivery]) => delivery)) {
      due.delete(id);
      await lookAgain(id).catch((fault: unknown) => report(`look for delivery ${id} in its inbox`, fault));
    }
    await bell.wait(Math.max(10, Math.min(...due.values(), elapsed() + patienceMs) - elapsed()));
  };
  await runForever("follow up native inboxes", signal, step, report, { timers });
  stopListening();

  async function lookAgain(id: DeliveryId): Promise<void> {
    const delivery = mailbox.delivery(id);
    const message = delivery && mailbox.message(delivery.messageId);
    const member = delivery && agent(delivery.agent);
    const endpoint = member?.endpoints.find(({ transport }) => transport === claudeInbox);
    if (!delivery || !message || !member || !endpoint || !isLaid(delivery)) return;
    const fate = inboxAt(fileOf(endpoint), layout).fateOf(rowOf(message, null));
    if (fate === "present") await mailbox.warn(id, `it is still unread in the inbox of ${member.name}`);
    const lost = `another program overwrote the inbox before ${member.name} read it; it is probably lost`;
    if (fate === "lost")
      await mailbox.settle(id, { kind: "unknown", detail: lost }, { transport: null, authority: null });
  }
}

const isLaid = ({ state, transport, proof, warning }: Delivery): boolean =>
  state === "delivered" && transport === claudeInbox && proof === "written" && warning === null;
