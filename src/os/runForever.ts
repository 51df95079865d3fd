import { systemTimers, type Timers } from "./timers.ts";

export type Report = (context: string, fault: unknown) => void;

export interface ForeverOptions {
  /** The pause after the first failure; it doubles with each further one. */
  readonly firstMs?: number;
  readonly mostMs?: number;
  /** The same fault again and again is reported this often. */
  readonly reportMs?: number;
  readonly timers?: Timers;
}

/**
 * Calls `step` until the signal aborts. A step that fails is reported and tried again after a pause, however often:
 * what it lacks (file descriptors, a folder, room on the disk) may be there later. Never rejects.
 */
export async function runForever(
  name: string,
  signal: AbortSignal,
  step: () => Promise<void> | void,
  report: Report,
  options: ForeverOptions = {},
): Promise<void> {
  const { firstMs = 100, mostMs = 5_000, timers = systemTimers } = options;
  const complain = complainRarely(name, report, options);
  let waitMs = firstMs;
  while (!signal.aborted) {
    try {
      await step();
      waitMs = firstMs;
    } catch (fault) {
      complain(fault);
      await timers.pause(waitMs, signal);
      waitMs = Math.min(mostMs, waitMs * 2);
    }
  }
}

export interface ComplaintOptions {
  readonly reportMs?: number;
  readonly timers?: Pick<Timers, "elapsed">;
}

/** Reports a fault that differs from the last one at once, and the same one now and then, with how often it was met. */
export function complainRarely(
  name: string,
  report: Report,
  { reportMs = 60_000, timers: { elapsed } = systemTimers }: ComplaintOptions = {},
): (fault: unknown) => void {
  let last = "";
  let reportedAt = 0;
  let kept = 0;
  return (fault) => {
    const words = String(fault);
    if (words === last && elapsed() - reportedAt < reportMs) {
      kept++;
      return;
    }
    const times = words === last && kept > 0 ? ` (${kept + 1} times since)` : "";
    [last, reportedAt, kept] = [words, elapsed(), 0];
    try {
      report(`${name}${times}`, fault);
    } catch {
      // A log that cannot be written is no reason to stop either.
    }
  };
}
