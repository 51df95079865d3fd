/** What each agent was last heard of, for those who look at all of them at once. */
import { isLive, type Agent, type AgentState, type Presence } from "../model/agent.ts";
import type { Event } from "../model/event.ts";
import type { AgentId } from "../model/ids.ts";
import { tmuxEndpoint } from "../delivery/transports/paneEndpoint.ts";

export const activityStatuses = ["running", "waiting", "idle", "stopped"] as const;
export type ActivityStatus = (typeof activityStatuses)[number];

export interface Activity {
  readonly paneId: string | null;
  /** The label of the task that the agent was started for. */
  readonly wishId: string | null;
  readonly status: ActivityStatus;
  readonly lastEvent: LastEvent | null;
  readonly lastActivityAt: number;
  readonly eventCount: number;
}

export interface LastEvent {
  readonly type: string;
  readonly toolName: string | null;
  readonly timestamp: number;
}

export interface ActivityParts {
  readonly named: (team: string, name: string) => Agent | null;
  /** When the newest message for an agent was accepted, as far as the mailbox remembers. */
  readonly newestMailAt: (agent: AgentId) => number | null;
}

interface Trace {
  at: number;
  count: number;
  last: LastEvent | null;
  status: ActivityStatus;
}

/** A screen that cannot be read changes nothing. */
const statuses: Readonly<Record<Exclude<AgentState, "unknown">, ActivityStatus>> = {
  idle: "idle",
  working: "running",
  starting: "running",
  permission: "waiting",
  question: "waiting",
  dialog: "waiting",
  limited: "waiting",
  done: "stopped",
  gone: "stopped",
  suspended: "stopped",
};

/** Who an agent is comes from the directory at every look; only the trace of its events is kept here. */
export class Activities {
  readonly #parts: ActivityParts;
  readonly #traces = new Map<AgentId, Trace>();

  constructor(parts: ActivityParts) {
    this.#parts = parts;
  }

  observe(event: Event): void {
    const agent = "agent" in event ? event.agent : this.#parts.named(event.team, event.from)?.id;
    if (agent === undefined) return;
    if (event.type === "agent.removed") {
      this.#traces.delete(agent);
      return;
    }
    const trace = this.#traceOf(agent);
    trace.at = Math.max(trace.at, event.at);
    trace.count++;
    if (event.type === "agent.changed" && event.state !== "unknown") trace.status = statuses[event.state];
    trace.last = { type: event.type, toolName: event.type === "tool.call" ? event.tool : null, timestamp: event.at };
  }

  of(agent: Agent): Activity {
    const { at, count, last, status } = this.#traceOf(agent.id);
    const pane = tmuxEndpoint.of(agent)?.locator.pane;
    return {
      paneId: pane ?? null,
      wishId: agent.launch?.task ?? null,
      status: agent.state === "unknown" ? status : statuses[agent.state],
      lastEvent: last,
      lastActivityAt: Math.max(agent.lastActivityAt, at),
      eventCount: count,
    };
  }

  #traceOf(agent: AgentId): Trace {
    let trace = this.#traces.get(agent);
    if (trace === undefined)
      this.#traces.set(
        agent,
        (trace = { at: this.#parts.newestMailAt(agent) ?? 0, count: 0, last: null, status: "idle" }),
      );
    return trace;
  }
}

const activeMs = 5 * 60_000;

/** How an agent's availability is summed up: is it there, and did anything happen of late? */
export function presenceOf(agent: Agent, lastActivityAt: number, now: number): Presence {
  if (!isLive(agent) && agent.state !== "starting") return agent.shutDown ? "terminated" : "offline";
  return agent.kind === "user" || now - lastActivityAt < activeMs ? "active" : "idle";
}
