import { systemClock, type Clock } from "../model/ids.ts";
import type { Mailbox } from "./port.ts";

export interface RetentionOptions {
  readonly maxAgeMs: number;
  readonly maxBytes: number;
  readonly report: (context: string, fault: unknown) => void;
  readonly clock?: Clock;
  readonly everyMs?: number;
  /** So few at a time that nobody who sends meanwhile notices. */
  readonly batch?: number;
}

const dayMs = 86_400_000;
export const daysMs = (days: number): number => days * dayMs;

/** Removes finished messages that are too old, or too many, now and then and a little at a time. */
export class Retention implements Disposable {
  private timer: Timer | null = null;
  private readonly stopped = new AbortController();

  constructor(
    private readonly mailbox: Pick<Mailbox, "prune">,
    private readonly options: RetentionOptions,
  ) {}

  start(): void {
    const { everyMs = 3_600_000, report } = this.options;
    void this.sweep().catch((fault: unknown) => report("retention", fault));
    this.timer = setInterval(() => void this.sweep().catch((fault: unknown) => report("retention", fault)), everyMs);
  }

  /** Until nothing is left that may go. */
  async sweep(): Promise<number> {
    const { maxAgeMs, maxBytes, clock = systemClock, batch = 200 } = this.options;
    for (let removed = 0; ; ) {
      if (this.stopped.signal.aborted) return removed;
      const now = await this.mailbox.prune({ olderThan: clock() - maxAgeMs, maxBytes, batch });
      removed += now;
      if (now < batch) return removed;
    }
  }

  [Symbol.dispose](): void {
    this.stopped.abort();
    if (this.timer) clearInterval(this.timer);
  }
}
