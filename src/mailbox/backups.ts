import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { asTielineError, TielineError } from "../model/errors.ts";
import { systemClock, type Clock } from "../model/ids.ts";
import { runForever, type Report } from "../os/runForever.ts";
import { systemTimers, type Timers } from "../os/timers.ts";

/** What a copy was found to hold. */
export interface Copied {
  readonly messages: number;
  readonly altered: readonly string[];
}

export interface BackupsParts {
  readonly directory: string;
  /** Puts a copy of the mailbox there, whole or not at all. */
  readonly copy: (to: string) => Promise<Copied>;
  /** Grows with every change of the mailbox. */
  readonly changes: () => number;
  /** 0: only on request. */
  readonly everyMs: number;
  /** How many are kept, and how much they may take together. The newest one always stays. */
  readonly keep: number;
  readonly maxBytes: number;
  readonly report: Report;
  readonly clock?: Clock;
  readonly timers?: Timers;
  /** When after the start, and how often then, to check whether one is due. */
  readonly firstMs?: number;
  readonly againMs?: number;
}

export interface Backup {
  readonly file: string;
  readonly at: number;
  readonly bytes: number;
}

/** Copies of the mailbox, made automatically. A few of them are kept. */
export class Backups implements Disposable {
  private readonly stopping = new AbortController();
  private problem: TielineError | null = null;
  private copiedAt = -1;

  constructor(private readonly parts: BackupsParts) {}

  start(): void {
    const { everyMs, report, timers = systemTimers, firstMs = 60_000, againMs = 600_000 } = this.parts;
    const { signal } = this.stopping;
    this.removeDrafts();
    if (everyMs === 0) return;
    let waitMs = firstMs;
    const step = async (): Promise<void> => {
      await timers.pause(waitMs, signal);
      waitMs = againMs;
      if (!signal.aborted) await this.makeIfDue();
    };
    // `doctor` shows a fault for as long as it lasts.
    void runForever("make a backup", signal, step, report, { reportMs: dayMs, timers });
  }

  [Symbol.dispose](): void {
    this.stopping.abort();
  }

  /** Into the given file, or into the directory, where the oldest are removed. */
  async make(file?: string): Promise<Backup & Copied> {
    const { copy, clock = systemClock, changes } = this.parts;
    const at = clock();
    if (file !== undefined && existsSync(file)) throw taken(file);
    const to = file ?? join(this.ownDirectory(), nameOf(at));
    const before = changes();
    const copied = await copy(to);
    if (file === undefined) {
      this.copiedAt = before;
      this.problem = null;
      this.removeOldest();
    }
    return { file: to, at, bytes: statSync(to).size, ...copied };
  }

  /** Newest first. */
  list(): Backup[] {
    return backupsIn(this.parts.directory);
  }

  /** Why the last automatic backup failed; null: it did not. */
  get fault(): TielineError | null {
    return this.problem;
  }

  private async makeIfDue(): Promise<void> {
    const { everyMs, changes, clock = systemClock } = this.parts;
    try {
      const [newest] = this.list();
      const isDue = newest === undefined || Math.abs(clock() - newest.at) >= everyMs;
      if (isDue && changes() > 0 && changes() !== this.copiedAt) await this.make();
    } catch (fault) {
      if (this.stopping.signal.aborted) return;
      this.problem = asTielineError(fault);
      throw fault;
    }
  }

  private ownDirectory(): string {
    mkdirSync(this.parts.directory, { recursive: true, mode: 0o700 });
    return this.parts.directory;
  }

  private removeOldest(): void {
    const { keep, maxBytes } = this.parts;
    let total = 0;
    for (const [at, { file, bytes }] of this.list().entries()) {
      total += bytes;
      if (at > 0 && (at >= keep || total > maxBytes)) rmSync(file, { force: true });
    }
  }

  /** Left by a process that was killed. */
  private removeDrafts(): void {
    const { directory } = this.parts;
    if (!existsSync(directory)) return;
    for (const name of readdirSync(directory))
      if (/\.new(-journal)?$/.test(name)) rmSync(join(directory, name), { force: true });
  }
}

const dayMs = 86_400_000;

/** The directory's backups, newest first. */
export function backupsIn(directory: string): Backup[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .flatMap((name) => {
      const at = timeIn(name);
      const file = join(directory, name);
      const bytes = at === null ? undefined : statSync(file, { throwIfNoEntry: false })?.size;
      return at === null || bytes === undefined ? [] : [{ file, at, bytes }];
    })
    .toSorted((a, b) => b.at - a.at);
}

/** mailbox-20261116T063118.123Z.db */
const nameOf = (at: number): string => `mailbox-${stamp(at)}.db`;

/** A moment as a part of a file name. */
export const stamp = (at: number): string => new Date(at).toISOString().replaceAll(/[-:]/g, "");

function timeIn(name: string): number | null {
  const [, year, month, day, hour, minute, rest] =
    /^mailbox-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d\.\d{3}Z)\.db$/.exec(name) ?? [];
  return year === undefined ? null : Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${rest}`);
}

const taken = (file: string): TielineError =>
  new TielineError("CONFLICT", `${file} already exists`, {
    remedy: "choose another name, or remove the file",
    operands: { file },
  });
