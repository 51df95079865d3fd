import { systemTimers, type Timers } from "../../os/timers.ts";

export interface Patience {
  readonly timers?: Timers;
}

const firstPauseMs = 5;
const longestPauseMs = 200;

/**
 * Polls for what no event announces. Returns the first result; undefined: nothing was found in
 * time.
 */
export async function lookFor<Found>(
  look: () => Promise<Found | undefined>,
  withinMs: number,
  { timers: { elapsed, pause } = systemTimers }: Patience = {},
): Promise<Found | undefined> {
  const deadline = elapsed() + withinMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const found = await look();
    if (found !== undefined || elapsed() > deadline) return found;
    await pause(pauseMs);
  }
}
