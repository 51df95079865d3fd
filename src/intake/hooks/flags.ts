import type { Mailbox } from "../../mailbox/port.ts";
import type { Agent } from "../../model/agent.ts";
import type { AgentId } from "../../model/ids.ts";
import { raiseFlag, type HookPlace } from "./place.ts";

/** Keeps a flag per session while mail waits for it, so that command hooks need not ask us in vain. */
export function flagWaitingMail(mailbox: Pick<Mailbox, "onTransitions" | "waiting">, agentOf: (id: AgentId) => Agent | null, place: HookPlace): () => void {
  const raised = new Set<string>();
  const update = (id: AgentId, waits: boolean): void => {
    const sessionId = agentOf(id)?.sessionId ?? null;
    if (sessionId === null || raised.has(sessionId) === waits) return;
    raiseFlag(place, sessionId, waits);
    if (waits) raised.add(sessionId);
    else raised.delete(sessionId);
  };
  for (const id of mailbox.waiting()) update(id, true);
  return mailbox.onTransitions((changes) => {
    const waiting = new Set(mailbox.waiting());
    for (const id of new Set(changes.map(({ delivery }) => delivery.agent))) update(id, waiting.has(id));
  });
}
