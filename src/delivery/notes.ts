import type { Outcome } from "../model/delivery.ts";
import { notesOn } from "../model/envelope.ts";
import type { Attempt, Transport } from "./transports/port.ts";

/** What went out as a summary, or changed, is said to be so, whichever transport wrote it. */
export function withNotes<Result extends Outcome>(
  outcome: Result,
  transport: Transport,
  { message, agent }: Pick<Attempt, "agent" | "message">,
): Result {
  if (outcome.kind !== "delivered" && outcome.kind !== "unknown") return outcome;
  const sent = transport.envelopeOf?.(message, agent);
  return { ...outcome, notes: [...(outcome.notes ?? []), ...(sent ? notesOn(sent) : [])] };
}
