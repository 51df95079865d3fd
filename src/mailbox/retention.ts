import { systemClock, type Clock } from "../model/ids.ts";
import { systemTimers, type Scheduled, type Timers } from "../os/timers.ts";
import type { Mailbox } from "./port.ts";
import { fullFrom } from "./room.ts";

export interface RetentionOptions {
  readonly maxAgeMs: number;
  readonly maxBytes: number;
  readonly report: (context: string, fault: unknown) => void;
  readonly clock?: Clock;
  readonly timers?: Timers;
  readonly everyMs?: number;
  /** How soon another sweep may follow when there is hardly any room; later after one that took long. */
  readonly soonMs?: number;
  /** So few at a time that concurrent sends are not delayed. */
  readonly batch?: number;
}

const dayMs = 86_400_000;
export const daysMs = (days: number): number => days * dayMs;

/** What was delivered, or failed, so recently may be answered or retried, and stays. */
const freshMs = 3_600_000;

/** Removes finished messages that are too old, or too many, now and then and a little at a time. */
export class Retention implements Disposable {
  private timer: Scheduled | null = null;
  private sweeping: Promise<unknown> | null = null;
  private nextAt = 0;
  private stopListening: () => void = () => undefined;
  private readonly stopped = new AbortController();
  private readonly timers: Timers;

  constructor(
    private readonly mailbox: Pick<Mailbox, "prune" | "onNearlyFull">,
    private readonly options: RetentionOptions,
  ) {
    this.timers = options.timers ?? systemTimers;
  }

  start(): void {
    const { everyMs = 3_600_000 } = this.options;
    this.begin();
    this.timer = this.timers.every(everyMs, () => this.begin());
    this.stopListening = this.mailbox.onNearlyFull(() => {
      if (this.timers.elapsed() >= this.nextAt) this.begin();
    });
  }

  /** Over all messages, as long as there is something that may go. */
  async sweep(): Promise<number> {
    const { maxAgeMs, maxBytes, clock = systemClock, batch = 200 } = this.options;
    let removed = 0;
    for (let after: number | null = 0; after !== null && !this.stopped.signal.aborted;) {
      const now = clock();
      const pruned = await this.mailbox.prune({
        olderThan: now - maxAgeMs,
        freshSince: now - freshMs,
        maxBytes: maxBytes * fullFrom,
        batch,
        after,
      });
      removed += pruned.removed;
      after = pruned.next;
    }
    return removed;
  }

  [Symbol.dispose](): void {
    this.stopped.abort();
    this.stopListening();
    this.timer?.cancel();
  }

  private begin(): void {
    const { report, soonMs = 1_000 } = this.options;
    const from = this.timers.elapsed();
    this.sweeping ??= this.sweep()
      .catch((fault: unknown) => report("retention", fault))
      .finally(() => {
        const now = this.timers.elapsed();
        this.sweeping = null;
        this.nextAt = now + Math.max(soonMs, 10 * (now - from));
      });
  }
}
