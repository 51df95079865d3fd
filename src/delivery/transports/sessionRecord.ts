/** What a session's own record tells of an attempt whose answer was lost. */
import type { Agent } from "../../model/agent.ts";
import type { Outcome, Proof, Trace } from "../../model/delivery.ts";
import type { Message } from "../../model/message.ts";

export interface SessionRecord {
  /** What the session's transcript says of the message; null: it can not be read. */
  readonly traceOf: (agent: Agent, message: Message) => Promise<Trace | null>;
  readonly pause?: (ms: number) => Promise<void>;
}

/** What a session has taken stands in its transcript after this time. */
const recordedMs = 1_000;

/** `queued` is what it proves that the session has the message, and has not given it to the model yet. */
export async function foundInRecord(
  agent: Agent,
  message: Message,
  queued: Proof,
  { traceOf, pause = Bun.sleep }: SessionRecord,
): Promise<Outcome> {
  let trace = await traceOf(agent, message);
  if (trace === "none") {
    await pause(recordedMs);
    trace = await traceOf(agent, message);
  }
  if (trace === null) return { kind: "unknown", detail: "the session's transcript can not be read" };
  if (trace === "none") return { kind: "absent", detail: "the session has no record of it" };
  if (trace === "answered") return { kind: "delivered", proof: "transcript" };
  return trace === "given"
    ? { kind: "delivered", proof: "submitted", detail: "the conversation holds it" }
    : { kind: "delivered", proof: queued, detail: "the session has it in its queue" };
}
