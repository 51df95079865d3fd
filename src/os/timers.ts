import { systemElapsed, type Elapsed } from "../model/ids.ts";

/**
 * Waiting. Nothing outside os/ asks the runtime for a timer, so that a test can decide how time passes.
 *
 * - A callback runs in a later turn, never inside the call that set it.
 * - Callbacks run in the order in which they are due; those with the same delay, in the order in which they were set.
 * - A delay may have any length: 0 or less is the next turn, Infinity is never.
 * - A cancelled callback does not run, even if it is already due. Cancelling twice, or too late, does nothing.
 * - The wall clock may be set: delays follow `elapsed`.
 */
export interface Timers {
  /** Milliseconds that only ever go forward; delays are measured by them. */
  readonly elapsed: Elapsed;
  /** Calls back once. */
  after(ms: number, run: () => void, options?: TimerOptions): Scheduled;
  /** Calls back again and again until it is cancelled, `ms` apart. */
  every(ms: number, run: () => void, options?: TimerOptions): Scheduled;
  /** Resolves after `ms`, or as soon as the signal aborts. Never rejects, and leaves nothing behind on the signal. */
  pause(ms: number, signal?: AbortSignal): Promise<void>;
  /** Aborts with a TimeoutError after `ms`. Does not keep the process alive. */
  timeout(ms: number): AbortSignal;
  /** Resolves after the events that wait now had their turn. Long work calls it between its pieces. */
  nextTurn(): Promise<void>;
}

export interface TimerOptions {
  /** The process may exit before the callback ran. */
  readonly background?: boolean;
}

/** A callback that is yet to come. `using` cancels it at the end of the block. */
export interface Scheduled extends Disposable {
  cancel(): void;
}

/** The longest delay of a timer of the runtime, about 24.8 days. A longer one would fire at once. */
const longestMs = 2 ** 31 - 1;

export const systemTimers: Timers = {
  elapsed: systemElapsed,

  after(ms, run, { background = false } = {}) {
    let leftMs = ms;
    let timer: Timer | undefined;
    const wait = (): void => {
      const step = Math.min(Math.max(0, leftMs), longestMs);
      leftMs -= step;
      timer = setTimeout(() => (leftMs > 0 ? wait() : run()), step);
      if (background) timer.unref();
    };
    if (ms !== Infinity) wait();
    return scheduled(() => clearTimeout(timer));
  },

  every(ms, run, { background = false } = {}) {
    const timer = setInterval(run, Math.min(ms, longestMs));
    if (background) timer.unref();
    return scheduled(() => clearInterval(timer));
  },

  pause(ms, signal) {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const over = (): void => {
        timer.cancel();
        signal?.removeEventListener("abort", over);
        resolve();
      };
      const timer = systemTimers.after(ms, over);
      signal?.addEventListener("abort", over);
    });
  },

  timeout: (ms) => (ms > longestMs ? longTimeout(ms) : AbortSignal.timeout(ms)),

  nextTurn: () => new Promise((resolve) => setImmediate(resolve)),
};

const scheduled = (cancel: () => void): Scheduled => ({ cancel, [Symbol.dispose]: cancel });

function longTimeout(ms: number): AbortSignal {
  const controller = new AbortController();
  const late = (): void => controller.abort(new DOMException("The operation timed out.", "TimeoutError"));
  systemTimers.after(ms, late, { background: true });
  return controller.signal;
}

/** For work of many small pieces: gives way to other events whenever it has had the process for `budgetMs`. */
export function pacer(timers: Pick<Timers, "elapsed" | "nextTurn">, budgetMs = 8): () => Promise<void> {
  let since = timers.elapsed();
  return async () => {
    if (timers.elapsed() - since < budgetMs) return;
    await timers.nextTurn();
    since = timers.elapsed();
  };
}
