/** The state that a program reports itself outranks the one that its screen shows. */
import type { Agent, AgentState } from "../../model/agent.ts";
import type { Hold, HoldReason } from "../../model/delivery.ts";
import type { Ages } from "../../os/ages.ts";
import type { Readiness, Transport } from "../../delivery/transports/port.ts";
import type { Observation } from "./recordObservations.ts";

export interface ReportedState {
  readonly state: AgentState;
  readonly reason: string | null;
  /** After this time it holds no longer, and no event announces that. */
  readonly forMs?: number;
}

/** null: the program says nothing, and the screen has to do. */
export type ReadReportedState = (agent: Agent) => ReportedState | null;

/** A program that is starting says nothing yet; one that is silent for longer than this never will. */
export function whileStarting({ id, state, stateAt }: Agent, patienceMs: number, ages: Ages): ReportedState | null {
  return state === "starting" && ages.of(id, stateAt) < patienceMs ? { state, reason: null } : null;
}

const holds: Readonly<Partial<Record<AgentState, readonly [HoldReason, string]>>> = {
  starting: ["starting", "is starting"],
  working: ["busy", "is working"],
  permission: ["permission", "has a permission dialog open"],
  question: ["question", "has a question open"],
  dialog: ["dialog", "has a dialog open"],
};

/** Why nothing is written to an agent that says this; null: nothing speaks against it. */
export function holdOf(agent: Agent, { state, reason: why }: ReportedState): Hold | null {
  const hold = holds[state];
  if (hold === undefined) return null;
  const [reason, words] = hold;
  return { reason, detail: `${agent.name} ${words}${why === null ? "" : ` (${why})`}` };
}

/** The same for a transport; null: nothing speaks against writing. */
export function heldBy(agent: Agent, reported: ReportedState): Extract<Readiness, { kind: "held" }> | null {
  const hold = holdOf(agent, reported);
  return hold && { kind: "held", hold, ...(reported.forMs !== undefined && { againInMs: reported.forMs }) };
}

/** A transport that reads the screen, and is not asked while the program reports that it is not idle. */
export function heldByReportedState<T extends Transport>(transport: T, word: ReadReportedState): T {
  const held = (agent: Agent): Extract<Readiness, { kind: "held" }> | null => {
    const reported = word(agent);
    return reported && heldBy(agent, reported);
  };
  return {
    ...transport,
    ready: async (attempt) => held(attempt.agent) ?? transport.ready(attempt),
    deliver: async (attempt, signal) => held(attempt.agent) ?? transport.deliver(attempt, signal),
  };
}

type Observe = (agent: Agent, seen: Observation) => void;

/**
 * The reported state if there is one, else the screen reading. Only the screen shows that a program is gone.
 */
export function preferReportedState(observe: Observe, word: ReadReportedState): Observe {
  return (agent, seen) => {
    const reported = seen.state === "gone" || seen.state === "done" ? null : word(agent);
    observe(agent, reported === null ? seen : { ...seen, ...reported });
  };
}
