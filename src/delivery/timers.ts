import { elapsedFor, type AgentId, type Clock, type Elapsed } from "../model/ids.ts";
import { after, type LongTimer } from "../os/longTimer.ts";

/** The courier's two clocks: the next moment that something is due, and the slow sweep while anything waits. */
export class Timers {
  private due: LongTimer | null = null;
  private sweep: Timer | null = null;
  private readonly appointments = new Map<AgentId, { at: number; timer: LongTimer }>();
  private readonly elapsed: Elapsed;
  private readonly pauses = new Map<Timer, () => void>();

  constructor(
    private readonly onDue: () => void,
    private readonly onSweep: () => boolean,
    private readonly sweepMs: number,
    private readonly clock: Clock,
  ) {
    this.elapsed = elapsedFor(clock);
  }

  plan(at: number | null): void {
    this.due?.cancel();
    this.due = at === null ? null : after(at - this.clock(), this.onDue);
  }

  sweepSoon(): void {
    this.sweep ??= setTimeout(() => {
      this.sweep = null;
      if (this.onSweep()) this.sweepSoon();
    }, this.sweepMs);
  }

  /** One appointment per agent; a nearer one takes the place of a later one. */
  later(agent: AgentId, ms: number, run: () => void): void {
    const at = this.elapsed() + ms;
    const known = this.appointments.get(agent);
    if (known && known.at <= at) return;
    known?.timer.cancel();
    const timer = after(ms, () => {
      this.appointments.delete(agent);
      run();
    });
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
    this.due?.cancel();
    if (this.sweep) clearTimeout(this.sweep);
    for (const { timer } of this.appointments.values()) timer.cancel();
    for (const [timer, resolve] of this.pauses) {
      clearTimeout(timer);
      resolve();
    }
  }
}
