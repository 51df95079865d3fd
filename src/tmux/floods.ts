import { systemTimers, type Scheduled, type Timers } from "../os/timers.ts";

/** How much a pane may print between two rests. */
const floodBytes = 64 * 1024;
const restMs = 200;

export interface FloodParts {
  /** Makes tmux drop the pane's output from now on, or pass it on again. */
  readonly pass: (pane: string, passed: boolean) => void;
  /** The pane is listened to again; what it printed meanwhile is not known. */
  readonly rested: (pane: string) => void;
  readonly timers?: Timers;
}

/**
 * A pane that prints without end is listened to in turns: that it prints is all that counts. It would
 * fill our time and tmux's queue, and tmux 3.3a ends with a fault when a client is detached while its queue is full.
 */
export class Floods implements Disposable {
  private readonly printed = new Map<string, { bytes: number; readonly since: number }>();
  private readonly resting = new Map<string, Scheduled>();

  private readonly timers: Timers;

  constructor(private readonly parts: FloodParts) {
    this.timers = parts.timers ?? systemTimers;
  }

  heard(pane: string, bytes: number): void {
    if (this.resting.has(pane)) return;
    const now = this.timers.elapsed();
    const known = this.printed.get(pane);
    const amount = known !== undefined && now - known.since < restMs ? known : { bytes: 0, since: now };
    amount.bytes += bytes;
    this.printed.set(pane, amount);
    if (amount.bytes > floodBytes) this.rest(pane);
  }

  [Symbol.dispose](): void {
    for (const timer of this.resting.values()) timer.cancel();
  }

  private rest(pane: string): void {
    this.printed.delete(pane);
    this.parts.pass(pane, false);
    const wake = (): void => {
      this.resting.delete(pane);
      this.parts.pass(pane, true);
      this.parts.rested(pane);
    };
    this.resting.set(pane, this.timers.after(restMs, wake));
  }
}
