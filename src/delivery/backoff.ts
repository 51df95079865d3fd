import type { Hold } from "../model/delivery.ts";
import { elapsedFor, type AgentId, type Clock, type Elapsed } from "../model/ids.ts";
import type { Readiness } from "./transports/port.ts";

interface Refusals {
  readonly count: number;
  readonly until: number;
  readonly hold: Hold;
}

/** The longest pause between two attempts. */
const slowestMs = 10_000;

/**
 * Attempts that end where they began: the transport says that it is ready, and then refuses. Each makes the next one
 * wait twice as long, so that an endpoint which always refuses costs little, whatever wakes the courier meanwhile.
 */
export class Backoff {
  private readonly refusals = new Map<string, Refusals>();

  private readonly elapsed: Elapsed;

  constructor(
    private readonly firstMs: number,
    clock: Clock,
  ) {
    this.elapsed = elapsedFor(clock);
  }

  /** The hold of a failed attempt: its reason, and after the first one the number of attempts. */
  refused(agent: AgentId, transport: string, { reason, detail }: Hold): Hold {
    const now = this.elapsed();
    const known = this.refusals.get(keyOf(agent, transport));
    // What was tried long ago says nothing about now.
    const count = known && now - known.until < slowestMs ? known.count + 1 : 1;
    const pauseMs = Math.min(this.firstMs * 2 ** (count - 1), slowestMs);
    const hold = {
      reason,
      detail: count === 1 ? detail : `${detail}; tried ${count} times, again in ${seconds(pauseMs)}`,
    };
    this.refusals.set(keyOf(agent, transport), { count, until: now + pauseMs, hold });
    return hold;
  }

  /** Why not yet; null: nothing speaks against an attempt. */
  pausing(agent: AgentId, transport: string): Extract<Readiness, { kind: "held" }> | null {
    const known = this.refusals.get(keyOf(agent, transport));
    const leftMs = known === undefined ? 0 : known.until - this.elapsed();
    return known === undefined || leftMs <= 0 ? null : { kind: "held", hold: known.hold, againInMs: leftMs };
  }

  /** It was written, or may have been. */
  ended(agent: AgentId, transport: string): void {
    this.refusals.delete(keyOf(agent, transport));
  }

  forget(agent: AgentId): void {
    for (const key of this.refusals.keys()) if (key.startsWith(`${agent} `)) this.refusals.delete(key);
  }
}

const keyOf = (agent: AgentId, transport: string): string => `${agent} ${transport}`;

const seconds = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`);
