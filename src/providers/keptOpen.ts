/** What the connections to programs that speak for themselves have in common. */
import { asTielineError } from "../model/errors.ts";
import { systemTimers, type Scheduled, type Timers } from "../os/timers.ts";

export interface Connecting {
  /** Tries to connect, unless it is connected or trying. */
  open(): void;
  /** No watcher is left. */
  close(): void;
}

export interface KeptOpenOptions {
  readonly retryMs?: number;
  readonly timers?: Pick<Timers, "after">;
}

/**
 * Keeps a connection open while it is watched. A program that is starting, or was restarted, gives no sign; so
 * one that is not there is tried again after a while.
 */
export class KeptOpen<Watch> {
  private readonly watches = new Set<Watch>();
  private retry: Scheduled | null = null;
  private readonly retryMs: number;
  private readonly timers: Pick<Timers, "after">;

  constructor(
    private readonly connection: Connecting,
    { retryMs = 250, timers = systemTimers }: KeptOpenOptions = {},
  ) {
    [this.retryMs, this.timers] = [retryMs, timers];
  }

  get isWatched(): boolean {
    return this.watches.size > 0;
  }

  watch(watch: Watch): Disposable {
    this.watches.add(watch);
    this.connection.open();
    return {
      [Symbol.dispose]: () => {
        this.watches.delete(watch);
        if (!this.isWatched) this.connection.close();
      },
    };
  }

  tell(say: (watch: Watch) => void): void {
    for (const watch of [...this.watches]) say(watch);
  }

  openLater(): void {
    if (!this.isWatched || this.retry !== null) return;
    this.retry = this.timers.after(this.retryMs, () => {
      this.retry = null;
      this.connection.open();
    });
  }

  /** No callback is called any more, and nothing is tried again. */
  end(): void {
    this.watches.clear();
    this.retry?.cancel();
    this.retry = null;
  }
}

/** A call to a program that is not there fails. Other faults are reported once, not at each try. */
export function complaintsOf(
  program: string,
  report: (context: string, fault: unknown) => void,
): (fault: unknown) => void {
  const known = new Set<string>();
  return (fault) => {
    const { message, operands } = asTielineError(fault);
    if (operands["refused"] === false || known.has(message)) return;
    known.add(message);
    report(program, fault);
  };
}
