/** Finds out what became of an attempt: reads what its transport left, and writes the answer into the mailbox. */
import type { Mailbox } from "../mailbox/port.ts";
import type { Agent } from "../model/agent.ts";
import { isSummaryOnly, proofOfSummary, provesSeen, type Delivery, type Outcome } from "../model/delivery.ts";
import { asTielineError } from "../model/errors.ts";
import type { AgentId } from "../model/ids.ts";
import type { InspectionResult } from "./pendingInspections.ts";
import { withNotes } from "./notes.ts";
import { modelFailed, type ModelWatch } from "./outages.ts";
import type { Attempt, Transport } from "./transports/port.ts";

export interface InspectorParts {
  readonly mailbox: Pick<
    Mailbox,
    "delivery" | "deliveriesIn" | "message" | "receipt" | "settle" | "confirm" | "note" | "warn"
  >;
  readonly agent: (id: AgentId) => Agent | null;
  readonly transportOf: (name: string) => Transport;
  readonly markOf: (delivery: Delivery) => string;
  readonly model?: ModelWatch;
  readonly report: (context: string, fault: unknown) => void;
}

export interface Inspector {
  /** After a crash, or after the mailbox was restored: inspects before anything is repeated. */
  inspect(delivery: Delivery | null): Promise<InspectionResult>;
  inspectAttempt(attempt: Attempt): Promise<Outcome>;
  uncertainOf(agent: AgentId): readonly Delivery[];
  finishedOwnDraft(agent: AgentId): Promise<boolean>;
}

export function createInspector(parts: InspectorParts): Inspector {
  const { mailbox, transportOf, markOf, model, report } = parts;
  return { inspect, inspectAttempt, uncertainOf, finishedOwnDraft };

  /** An inspection that fails proves nothing: the attempt stays uncertain. */
  async function inspectAttempt(attempt: Attempt): Promise<Outcome> {
    try {
      return await transportOf(attempt.endpoint.transport).inspect(attempt);
    } catch (thrown) {
      report(`inspect ${attempt.message.tag} by ${attempt.endpoint.transport}`, thrown);
      return { kind: "unknown", detail: asTielineError(thrown).message, unreadable: true };
    }
  }

  /** The draft may be our own text, left there by an attempt that could not end: then Enter is all that is missing. */
  async function finishedOwnDraft(id: AgentId): Promise<boolean> {
    const uncertain = uncertainOf(id);
    for (const delivery of uncertain) await inspect(delivery);
    return uncertain.some(
      ({ id: own, messageId }) =>
        mailbox.receipt(messageId)?.deliveries.find(({ id }) => id === own)?.state !== "uncertain",
    );
  }

  function uncertainOf(id: AgentId): readonly Delivery[] {
    return mailbox.deliveriesIn(["uncertain"]).filter(({ agent }) => agent === id);
  }

  /** After a crash, or after the mailbox was restored: inspect before anything is repeated. */
  async function inspect(delivery: Delivery | null): Promise<InspectionResult> {
    const agent = delivery && parts.agent(delivery.agent);
    const message = delivery && mailbox.message(delivery.messageId);
    // One that was cancelled, expired or read meanwhile has its end, whatever an inspection would find.
    if (!delivery || !agent || !message || !["uncertain", "delivered"].includes(delivery.state)) return "decided";
    // After a restore neither endpoint nor time of the attempt is known: all are inspected, and one without proof
    // proves nothing.
    const isRestored = delivery.transport === null;
    const mark = markOf(isRestored ? { ...delivery, claimedAt: null } : delivery);
    let found = "decided" as InspectionResult;
    for (const endpoint of agent.endpoints.filter(({ transport }) => isRestored || transport === delivery.transport)) {
      const outcome = await inspectAttempt({ message, delivery, agent, endpoint, mark });
      if (outcome.kind === "delivered") {
        await raise(delivery, outcome, { agent, message, endpoint });
        return "decided";
      }
      if (outcome.kind === "unknown") found = outcome.unreadable || found === "unreadable" ? "unreadable" : "undecided";
      else if (outcome.kind === "absent" && !isRestored && mailbox.delivery(delivery.id)?.state === "uncertain")
        await mailbox.settle(delivery.id, outcome, { transport: null, authority: null });
    }
    return found;
  }

  async function raise(
    { id, state, warning }: Delivery,
    found: Extract<Outcome, { kind: "delivered" }>,
    attempt: Pick<Attempt, "agent" | "message" | "endpoint">,
  ): Promise<void> {
    const { agent, message, endpoint } = attempt;
    const { proof: offered, detail, failure, notes = [] } = withNotes(found, transportOf(endpoint.transport), attempt);
    // How an uncertain attempt went out is not recorded yet.
    const isNew = state === "uncertain";
    const proof = isNew && isSummaryOnly({ notes }) ? proofOfSummary(offered) : offered;
    await mailbox.confirm(id, proof, detail);
    if (isNew) for (const { code, text } of notes) await mailbox.note(id, code, text);
    if (provesSeen(proof)) model?.answered(agent.id);
    if (failure === undefined || warning !== null) return;
    await mailbox.warn(id, modelFailed(failure));
    model?.failed(agent, failure, message);
  }
}
