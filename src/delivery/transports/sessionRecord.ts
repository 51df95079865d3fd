/** What a session's own record tells of an attempt whose answer was lost. */
import type { Agent } from "../../model/agent.ts";
import type { Outcome, Proof, TranscriptProof } from "../../model/delivery.ts";
import type { Message } from "../../model/message.ts";
import { systemTimers, type Timers } from "../../os/timers.ts";

export interface SessionRecord {
  /** What the session's transcript says of the message; null: it cannot be read. */
  readonly proofOf: (agent: Agent, message: Message) => Promise<TranscriptProof | null>;
  readonly timers?: Pick<Timers, "pause">;
}

/** What a session has taken is in its transcript after this time. */
const recordedMs = 1_000;

/** `queued` is what it proves that the session has the message, and has not given it to the model yet. */
export async function foundInRecord(
  agent: Agent,
  message: Message,
  queued: Proof,
  { proofOf, timers = systemTimers }: SessionRecord,
): Promise<Outcome> {
  let proof = await proofOf(agent, message);
  if (proof === "none") {
    await timers.pause(recordedMs);
    proof = await proofOf(agent, message);
  }
  if (proof === null) return { kind: "unknown", detail: "the session's transcript cannot be read" };
  if (proof === "none") return { kind: "absent", detail: "the session has not recorded it" };
  if (proof === "answered") return { kind: "delivered", proof: "transcript" };
  return proof === "given"
    ? { kind: "delivered", proof: "submitted", detail: "the conversation holds it" }
    : { kind: "delivered", proof: queued, detail: "the session has it in its queue" };
}
