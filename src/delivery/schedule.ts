import { elapsedFor, type AgentId, type Clock, type Elapsed } from "../model/ids.ts";
import type { Scheduled, Timers } from "../os/timers.ts";

export interface ScheduleParts {
  readonly onDue: () => void;
  /** Whether anything still waits. */
  readonly onSweep: () => boolean;
  readonly sweepMs: number;
  readonly clock: Clock;
  readonly timers: Pick<Timers, "after">;
}

/** When the courier acts next: at the next moment that something is due, and in a slow sweep while anything waits. */
export class Schedule {
  private due: Scheduled | null = null;
  private sweep: Scheduled | null = null;
  private readonly appointments = new Map<AgentId, { at: number; timer: Scheduled }>();
  private readonly elapsed: Elapsed;

  constructor(private readonly parts: ScheduleParts) {
    this.elapsed = elapsedFor(parts.clock);
  }

  plan(at: number | null): void {
    const { timers, clock, onDue } = this.parts;
    this.due?.cancel();
    this.due = at === null ? null : timers.after(at - clock(), onDue);
  }

  sweepSoon(): void {
    const { timers, sweepMs, onSweep } = this.parts;
    this.sweep ??= timers.after(sweepMs, () => {
      this.sweep = null;
      if (onSweep()) this.sweepSoon();
    });
  }

  /** One appointment per agent; a nearer one takes the place of a later one. */
  later(agent: AgentId, ms: number, run: () => void): void {
    const at = this.elapsed() + ms;
    const known = this.appointments.get(agent);
    if (known && known.at <= at) return;
    known?.timer.cancel();
    const timer = this.parts.timers.after(ms, () => {
      this.appointments.delete(agent);
      run();
    });
    this.appointments.set(agent, { at, timer });
  }

  stop(): void {
    this.due?.cancel();
    this.sweep?.cancel();
    for (const { timer } of this.appointments.values()) timer.cancel();
  }
}
