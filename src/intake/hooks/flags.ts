import type { Mailbox } from "../../mailbox/port.ts";
import type { Agent } from "../../model/agent.ts";
import type { AgentId } from "../../model/ids.ts";
import { raiseFlag, type HookPlace } from "./place.ts";

/** Keeps a flag per session while mail waits for it, so that command hooks need not ask us in vain. */
export function flagWaitingMail(mailbox: Pick<Mailbox, "onTransitions" | "waiting">, agentOf: (id: AgentId) => Agent | null, place: HookPlace): () => void {
  const raised = new Set<string>();
  const update = (id: AgentId): void => {
    const sessionId = agentOf(id)?.sessionId ?? null;
    if (sessionId === null) return;
    const waits = mailbox.waiting().includes(id);
    if (raised.has(sessionId) === waits) return;
    raiseFlag(place, sessionId, waits);
    if (waits) raised.add(sessionId);
    else raised.delete(sessionId);
  };
  mailbox.waiting().forEach(update);
  return mailbox.onTransitions((changes) => new Set(changes.map(({ delivery }) => delivery.agent)).forEach(update));
}
