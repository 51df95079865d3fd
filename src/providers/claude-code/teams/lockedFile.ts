/**
 * Changes to a JSON file that several programs write, under the lock that Claude Code itself takes: a folder beside it.
 */
import { mkdirSync, renameSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { TielineError } from "../../../model/errors.ts";
import { untrustedText } from "../../../os/untrustedFile.ts";
import { systemClock, uuidv4, type Clock, type RandomBytes } from "../../../model/ids.ts";
import { systemTimers, type Timers } from "../../../os/timers.ts";

export interface LockPatience {
  readonly clock?: Clock;
  readonly timers?: Pick<Timers, "pause">;
  readonly random?: RandomBytes;
  readonly tries?: number;
}

/** Claude Code waits as long; a lock that is older than this is stale. */
const lockTries = 20;
/** Of a team's record or an inbox. */
const maxBytes = 16 << 20;
const staleLockMs = 10_000;

/**
 * Replaces the file as a whole by what `change` makes of its text; null leaves it as it is. A file that is missing is
 * empty.
 */
export async function changeFile(
  file: string,
  change: (text: string) => string | null,
  patience: LockPatience = {},
): Promise<void> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const lock = `${file}.lock`;
  await takeLock(lock, patience);
  try {
    const changed = change(textIn(file));
    if (changed !== null) replaceFile(file, changed, patience.random);
  } finally {
    rmdirSync(lock);
  }
}

/** A reader sees the old file or the new one, never half. */
export function replaceFile(file: string, text: string, random?: RandomBytes): void {
  const draft = `${file}.tmp.${uuidv4(random).slice(0, 8)}`;
  writeFileSync(draft, text, { mode: 0o600, flush: true });
  renameSync(draft, file);
}

/** Empty: there is no such file. Throws FILE_REFUSED when it is none that may be read. */
export function textIn(file: string): string {
  return untrustedText(file, { maxBytes }) ?? "";
}

async function takeLock(
  lock: string,
  { clock = systemClock, timers = systemTimers, tries = lockTries }: LockPatience,
): Promise<void> {
  for (let attempt = 0; attempt < tries; attempt++) {
    if (madeFolder(lock)) return;
    const age = ageOf(lock, clock());
    // One from the future was taken before the clock was set back.
    if (age !== null && Math.abs(age) > staleLockMs) rmdirSync(lock);
    else await timers.pause(Math.min(100, 5 * 2 ** attempt));
  }
  throw new TielineError("DELIVERY_FAILED", `${lock} is held by another program`, {
    remedy: "Tieline tries again",
    operands: { lock },
  });
}

function madeFolder(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw thrown;
  }
}

function ageOf(path: string, now: number): number | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? now - stats.mtimeMs : null;
}
