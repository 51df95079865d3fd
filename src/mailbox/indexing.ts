import { systemTimers, type Scheduled, type Timers } from "../os/timers.ts";
import type { Mailbox } from "./port.ts";

export interface IndexingParts {
  readonly mailbox: Pick<Mailbox, "index" | "onTransitions">;
  readonly report: (context: string, fault: unknown) => void;
  readonly timers?: Pick<Timers, "after">;
  readonly batch?: number;
  /** How long a new message may wait; senders in a burst are not held up. */
  readonly pauseMs?: number;
  /** The pause after a full batch: a backlog is read by every search until it is gone. */
  readonly backlogPauseMs?: number;
}

/** How long it waits after a fault: a full disk stays full for a while. */
const failedMs = 30_000;

/** Makes messages searchable behind the senders' backs, a small batch at a time. */
export class Indexing implements Disposable {
  private timer: Scheduled | null = null;
  private stopListening: () => void = () => undefined;

  constructor(private readonly parts: IndexingParts) {}

  start(): void {
    this.stopListening = this.parts.mailbox.onTransitions((changes) => {
      if (changes.some(({ transition }) => transition.verb === "accept")) this.soon();
    });
    this.soon();
  }

  [Symbol.dispose](): void {
    this.stopListening();
    this.timer?.cancel();
  }

  private soon(afterMs = this.parts.pauseMs ?? 1_000): void {
    const { timers = systemTimers } = this.parts;
    this.timer ??= timers.after(afterMs, () => {
      this.timer = null;
      void this.step().catch((fault: unknown) => {
        this.parts.report("index messages", fault);
        this.soon(failedMs);
      });
    });
  }

  private async step(): Promise<void> {
    const { mailbox, batch = 50, backlogPauseMs = 50 } = this.parts;
    if ((await mailbox.index(batch)) === batch) this.soon(backlogPauseMs);
  }
}
