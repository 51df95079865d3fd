import type { Agent, AgentState } from "../../model/agent.ts";
import type { AgentId, Clock } from "../../model/ids.ts";
import { Ages } from "../../os/ages.ts";

export interface Observation {
  readonly state: AgentState;
  readonly reason: string | null;
  readonly draft: boolean;
}

export interface Observable {
  agent(id: AgentId): Agent | null;
  observe(id: AgentId, state: AgentState, reason: string | null, draft: boolean): Agent;
}

export interface RecordOptions {
  /** How long an unreadable screen of a program that was started counts as its start. */
  readonly startingMs: number;
  readonly clock: Clock;
}

/** What is seen becomes what is known, save where what is known says more than what is seen. */
export function recordObservations(
  directory: Observable,
  { startingMs, clock }: RecordOptions,
): (agent: Pick<Agent, "id">, seen: Observation) => void {
  const ages = new Ages(clock);
  return ({ id }, { state, reason, draft }) => {
    const known = directory.agent(id);
    // It was removed, or its program was stopped, during the observation.
    if (known === null || known.endpoints.length === 0) return;
    if (known.state === "starting" && state === "unknown" && ages.of(id, known.stateAt) < startingMs) return;
    directory.observe(id, state, reason, draft);
  };
}
