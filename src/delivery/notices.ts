import type { Mailbox } from "../mailbox/port.ts";
import type { Agent } from "../model/agent.ts";
import type { Delivery } from "../model/delivery.ts";
import type { Transport } from "./transports/port.ts";

/** The oldest ack or bounce, where writing it starts no turn. Everywhere else it waits to be fetched. */
export function noticesFor(
  { id, endpoints }: Agent,
  mailbox: Pick<Mailbox, "pending" | "inbox">,
  transportOf: (name: string) => Transport,
): readonly Delivery[] {
  if (mailbox.pending(id) === 0 || !endpoints.some(({ transport }) => transportOf(transport).traits.quiet)) return [];
  const notice = mailbox
    .inbox(id, { pending: true, wakes: false, oldest: true, limit: 20 })
    .find(({ delivery }) => delivery.state === "queued");
  return notice ? [notice.delivery] : [];
}
