/**
 * Wall time that does not jump by itself. A clock that is set while the process runs would shorten or lengthen
 * everything that waits; so the process keeps its own time, and takes over a set clock only when what waits has been
 * moved along.
 *
 *     now = wall time at the start + time that passed since, sleep included + what was taken over since
 */
import { readFileSync } from "node:fs";
import { systemClock, systemElapsed, type Clock, type Elapsed } from "../model/ids.ts";

export interface SteadyClockParts {
  readonly wall?: Clock;
  readonly elapsed?: Elapsed;
  /** Time since the machine was started, sleep included; NaN: it is not known for now. */
  readonly uptime?: Elapsed;
}

/** Between two looks a clock is steered by less than this; what is more was set. */
const steeredMs = 1_000;
/** Sleep shorter than this is none. */
const dozeMs = 250;

export class SteadyClock {
  private readonly wall: Clock;
  private readonly elapsed: Elapsed;
  private readonly uptime: Elapsed;
  /** What `elapsed` has to be added to. */
  private origin: number;
  private upOrigin: number;
  private asleepMs = 0;
  private takenOverMs = 0;

  constructor({ wall = systemClock, elapsed = systemElapsed, uptime = systemUptime }: SteadyClockParts = {}) {
    [this.wall, this.elapsed, this.uptime] = [wall, elapsed, uptime];
    this.origin = wall() - elapsed();
    this.upOrigin = uptime() - elapsed();
  }

  readonly now: Clock = Object.assign(() => Math.round(this.origin + this.elapsed() + this.takenOverMs), {
    elapsed: (): number => this.elapsed(),
  });

  /** As if the clock had never been set since the start. */
  readonly untouched: Clock = () => Math.round(this.origin + this.elapsed());

  /** Follows sleep and steering. Answers by how much the clock was set beyond that, forward or back; 0: it was not. */
  look(): number {
    this.followSleep();
    const aheadMs = this.wall() - this.now();
    if (Math.abs(aheadMs) > steeredMs) return aheadMs;
    this.origin += aheadMs;
    return 0;
  }

  /** What waits was moved by so much; the time goes with it. */
  takeOver(byMs: number): void {
    this.takenOverMs += byMs;
  }

  private followSleep(): void {
    const asleepMs = this.uptime() - this.elapsed() - this.upOrigin;
    if (Number.isNaN(this.upOrigin)) this.upOrigin = this.uptime() - this.elapsed();
    if (!(asleepMs - this.asleepMs > dozeMs)) return;
    this.origin += asleepMs - this.asleepMs;
    this.asleepMs = asleepMs;
  }
}

/**
 * Linux says how long the machine has been up, sleep included. Elsewhere sleep looks like a clock that was set forward.
 */
function systemUptime(): number {
  if (process.platform !== "linux") return systemElapsed();
  try {
    return Number.parseFloat(readFileSync("/proc/uptime", "utf8")) * 1_000;
  } catch {
    // For want of a file descriptor; it is asked again with the next look.
    return Number.NaN;
  }
}
