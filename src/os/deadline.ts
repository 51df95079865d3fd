import { systemElapsed, type Elapsed } from "../model/ids.ts";

export interface Deadline {
  /** Whole milliseconds until then; 0 when it is over. */
  leftMs(): number;
}

/** A moment so far from now, whatever the wall clock is set to meanwhile. */
export function deadlineIn(ms: number, elapsed: Elapsed = systemElapsed): Deadline {
  const at = elapsed() + ms;
  return { leftMs: () => Math.max(0, Math.ceil(at - elapsed())) };
}
