import type { AgentId, Clock } from "../model/ids.ts";

/** The courier's two clocks: the next moment that something is due, and the slow sweep while anything waits. */
export class Timers {
  private due: Timer | null = null;
  private sweep: Timer | null = null;
  private readonly appointments = new Map<AgentId, { at: number; timer: Timer }>();
  private readonly pauses = new Map<Timer, () => void>();

  constructor(
    private readonly onDue: () => void,
    private readonly onSweep: () => boolean,
    private readonly sweepMs: number,
    private readonly clock: Clock,
  ) {}

  plan(at: number | null): void {
    if (this.due) clearTimeout(this.due);
    const maxDelayMs = 2 ** 31 - 1;
    this.due = at === null ? null : setTimeout(this.onDue, Math.min(maxDelayMs, Math.max(0, at - this.clock())));
  }

  sweepSoon(): void {
    this.sweep ??= setTimeout(() => {
      this.sweep = null;
      if (this.onSweep()) this.sweepSoon();
    }, this.sweepMs);
  }

  /** One appointment per agent; a nearer one takes the place of a later one. */
  later(agent: AgentId, ms: number, run: () => void): void {
    const at = this.clock() + ms;
    const known = this.appointments.get(agent);
    if (known && known.at <= at) return;
    if (known) clearTimeout(known.timer);
    const timer = setTimeout(() => {
      this.appointments.delete(agent);
      run();
    }, ms);
    this.appointments.set(agent, { at, timer });
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.pauses.delete(timer);
        resolve();
      }, ms);
      this.pauses.set(timer, resolve);
    });
  }

  stop(): void {
    if (this.due) clearTimeout(this.due);
    if (this.sweep) clearTimeout(this.sweep);
    for (const { timer } of this.appointments.values()) clearTimeout(timer);
    for (const [timer, resolve] of this.pauses) {
      clearTimeout(timer);
      resolve();
    }
  }
}
