import { systemTimers, type Timers } from "../os/timers.ts";

/**
 * Knows when this process has just stood still: stopped, or asleep with its machine. What arrived meanwhile may have
 * been given up long ago by those who asked, and nothing in it says so.
 */
export interface Standstill extends Disposable {
  /** Whether what comes in now may have waited for us. */
  isJustOver(): boolean;
}

export interface StandstillOptions {
  readonly timers?: Pick<Timers, "elapsed" | "every">;
  readonly beatMs?: number;
  /** A beat that is late by this much was no busy moment. */
  readonly lateMs?: number;
}

/** What has waited is taken in within this time. */
const catchUpMs = 1_000;

export function watchStandstill({
  timers = systemTimers,
  beatMs = 1_000,
  lateMs = 1_500,
}: StandstillOptions = {}): Standstill {
  const now = timers.elapsed;
  let beatAt = now();
  let overAt = Number.NEGATIVE_INFINITY;
  const look = (): void => {
    const at = now();
    if (at - beatAt > beatMs + lateMs) overAt = at;
    beatAt = at;
  };
  const beat = timers.every(beatMs, look, { background: true });
  return {
    isJustOver() {
      // What is read first after a standstill comes before the next beat.
      if (now() - beatAt > beatMs + lateMs) look();
      return now() - overAt < catchUpMs;
    },
    [Symbol.dispose]: () => beat.cancel(),
  };
}
