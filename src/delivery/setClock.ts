/**
 * What waits keeps the time that is left to it, whatever the wall clock is set to. The rule:
 *
 * - Deadlines (time to live, next attempt, lease) are stored in wall time.
 * - A clock that is set while the daemon runs moves the deadlines of all that is open by as much.
 * - While no daemon runs, time counts by the wall clock. If that is earlier than what was last written down, it was set
 *   back, and the deadlines are moved back by the difference.
 */
import type { Mailbox } from "../mailbox/port.ts";
import { elapsedFor, type Clock } from "../model/ids.ts";
import { runForever } from "../os/runForever.ts";
import type { SteadyClock } from "../os/steadyClock.ts";
import { systemTimers, type Timers } from "../os/timers.ts";

export interface SetClockParts {
  readonly mailbox: Pick<Mailbox, "moveDeadlines" | "lastWrittenAt">;
  readonly steady: Pick<SteadyClock, "look" | "takeOver">;
  /** Called when deadlines were moved. */
  readonly replan: () => void;
  readonly report: (context: string, fault: unknown) => void;
  /** For the log. */
  readonly note: (text: string) => void;
  readonly signal: AbortSignal;
  readonly timers?: Timers;
  readonly everyMs?: number;
}

/** Clocks are steered by less than this. */
const steeredMs = 1_000;

/** Before anything is served. */
export async function moveBackDeadlines(
  mailbox: SetClockParts["mailbox"],
  clock: Clock,
  note: SetClockParts["note"],
): Promise<void> {
  const byMs = (mailbox.lastWrittenAt() ?? 0) - clock();
  if (byMs <= steeredMs) return;
  await mailbox.moveDeadlines(-byMs);
  note(`the clock was set back by ${inSeconds(byMs)} since the last start; deadlines were moved with it`);
}

/** Runs until the signal aborts. Never rejects. */
export function followClock({
  mailbox,
  steady,
  replan,
  report,
  note,
  signal,
  timers = systemTimers,
  everyMs = 1_000,
}: SetClockParts): Promise<void> {
  const step = async (): Promise<void> => {
    await timers.pause(everyMs, signal);
    const byMs = steady.look();
    if (byMs === 0) return;
    await mailbox.moveDeadlines(byMs);
    steady.takeOver(byMs);
    note(
      `the clock was set ${byMs > 0 ? "forward" : "back"} by ${inSeconds(Math.abs(byMs))}; deadlines were ` +
        "moved with it",
    );
    replan();
  };
  return runForever("follow the clock", signal, step, report, { timers });
}

const dayMs = 86_400_000;

/**
 * The clock by which things grow old and are removed. One that is set forward, perhaps by mistake, makes nothing old.
 * Nor does a start at which everything is too old at once: then nothing grows old for a day, in which a wrong clock is
 * noticed.
 */
export function ageingClock(
  steady: Pick<SteadyClock, "now" | "untouched">,
  newestAt: () => number | null,
  maxAgeMs: number,
): Clock {
  const elapsed = elapsedFor(steady.now);
  const startedAt = elapsed();
  let doubtful: number | null | undefined;
  return () => {
    const now = Math.min(steady.now(), steady.untouched());
    const newest = (doubtful ??= newestAt());
    const isDoubtful = newest !== null && newest < now - maxAgeMs && elapsed() - startedAt < dayMs;
    return isDoubtful ? newest : now;
  };
}

const inSeconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;
