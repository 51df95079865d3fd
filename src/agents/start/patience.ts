import { elapsedFor, type Clock } from "../../model/ids.ts";

export interface Patience {
  readonly clock?: Clock;
  readonly pause?: (ms: number) => Promise<void>;
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
  { clock, pause = Bun.sleep }: Patience = {},
): Promise<Found | undefined> {
  const elapsed = elapsedFor(clock);
  const deadline = elapsed() + withinMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const found = await look();
    if (found !== undefined || elapsed() > deadline) return found;
    await pause(pauseMs);
  }
}
