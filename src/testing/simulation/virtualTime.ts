/**
 * Time that passes only when nothing else can happen. Timers run in the order in which they are due; those that are due
 * at the same moment, in the order in which they were set. Between two timers every promise that can continue does.
 */
import { drainMicrotasks } from "bun:jsc";
import type { Scheduled, Timers } from "../../os/timers.ts";

interface Entry {
  readonly at: number;
  readonly order: number;
  run: (() => void) | null;
}

/** What owns timers. Those of a process that was killed never run. */
export interface Life {
  alive: boolean;
}

export class VirtualTime {
  readonly #heap: Entry[] = [];
  #order = 0;
  /** In whole microseconds, so that no delay is too short to be added. */
  #elapsed = 0;
  /** How far the wall clock was set off the time that passed. */
  skewMs = 0;

  /** `startAt`: wall time at the beginning. */
  constructor(private readonly startAt: number) {}

  readonly elapsed = (): number => this.#elapsed / 1_000;
  readonly now = (): number => Math.floor(this.startAt + this.#elapsed / 1_000 + this.skewMs);

  after(ms: number, run: () => void, life?: Life): Scheduled {
    const called = life === undefined ? run : () => life.alive && run();
    const entry: Entry = { at: this.#elapsed + Math.ceil(1_000 * Math.max(0, ms)), order: this.#order++, run: called };
    if (ms !== Infinity) this.#push(entry);
    const cancel = (): void => void (entry.run = null);
    return { cancel, [Symbol.dispose]: cancel };
  }

  /** Timers that end with their owner. */
  timersOf(life: Life): Timers {
    const after: Timers["after"] = (ms, run) => this.after(ms, run, life);
    return {
      elapsed: this.elapsed,
      after,
      every(ms, run) {
        let timer = after(ms, again);
        function again(): void {
          timer = after(ms, again);
          run();
        }
        const cancel = (): void => timer.cancel();
        return { cancel, [Symbol.dispose]: cancel };
      },
      pause(ms, signal) {
        if (signal?.aborted) return Promise.resolve();
        return new Promise((resolve) => {
          const over = (): void => {
            timer.cancel();
            signal?.removeEventListener("abort", over);
            resolve();
          };
          const timer = after(ms, over);
          signal?.addEventListener("abort", over);
        });
      },
      timeout(ms) {
        const controller = new AbortController();
        after(ms, () => controller.abort(new DOMException("The operation timed out.", "TimeoutError")));
        return controller.signal;
      },
      nextTurn: () => new Promise((resolve) => void after(0, resolve)),
    };
  }

  /** When the next timer is due; null: there is none. */
  get #nextAt(): number | null {
    while (this.#heap[0]?.run === null) this.#pop();
    return this.#heap[0]?.at ?? null;
  }

  /** Lets every promise continue that can, then runs the next timer. False: there is none. */
  step(): boolean {
    drainMicrotasks();
    if (this.#nextAt === null) return false;
    const { at, run } = this.#pop()!;
    this.#elapsed = Math.max(this.#elapsed, at);
    run?.();
    drainMicrotasks();
    return true;
  }

  /** Runs what is due within `ms`, and then lets the rest of that time pass. Ends early where `until` says so. */
  run(ms: number, until: () => boolean = () => false): void {
    const end = this.#elapsed + Math.ceil(1_000 * ms);
    drainMicrotasks();
    for (let at = this.#nextAt; at !== null && at <= end; at = this.#nextAt) {
      this.step();
      if (until()) return;
    }
    this.#elapsed = Math.max(this.#elapsed, end);
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(heap[at]!, heap[parent]!)) return;
      [heap[at], heap[parent]] = [heap[parent]!, heap[at]!];
      at = parent;
    }
  }

  #pop(): Entry | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || heap.length === 0) return first;
    heap[0] = last!;
    for (let at = 0; ;) {
      const left = 2 * at + 1;
      if (left >= heap.length) return first;
      const child = left + 1 < heap.length && isBefore(heap[left + 1]!, heap[left]!) ? left + 1 : left;
      if (!isBefore(heap[child]!, heap[at]!)) return first;
      [heap[at], heap[child]] = [heap[child]!, heap[at]!];
      at = child;
    }
  }
}

const isBefore = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);
