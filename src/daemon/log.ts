import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  renameSync,
  statSync,
  truncateSync,
  type Stats,
} from "node:fs";
import { join } from "node:path";
import { asTielineError } from "../model/errors.ts";
import { linesOf, visible } from "../model/visible.ts";
import { entriesIn } from "../os/entries.ts";
import { systemTimers, type Scheduled, type Timers } from "../os/timers.ts";
import { systemClock, type Clock } from "../model/ids.ts";

export interface Log extends Disposable {
  info(text: string): void;
  /** A fault that has no caller to report to. The same again within a minute is only counted. */
  fault(context: string, thrown: unknown): void;
}

export interface LogOptions {
  readonly maxBytes: number;
  /** How many old files are kept beside the present one. */
  readonly keep: number;
  readonly clock?: Clock;
  readonly timers?: Pick<Timers, "after" | "every">;
  /** A file descriptor that writes to the same file without us: what the runtime prints about a crash. */
  readonly stderr?: number;
  /** How long faults are counted before the count is written. */
  readonly repeatMs?: number;
  /** How often the file is looked at when we write nothing ourselves. */
  readonly checkMs?: number;
}

/** No single entry is longer; a message can quote what a caller sent. */
const maxEntryLength = 16_384;
/** Different faults that are written in one period. */
const maxDifferent = 50;

/**
 * Appends lines to a file whose content moves aside when it has grown: daemon.log, daemon.log.1, … It is copied and
 * then emptied, because the runtime keeps the same file open as its stderr. Paths, names and output of other programs
 * are part of the lines, so a further line is indented, and what steers a terminal is shown by name.
 */
export function openLog(path: string, options: LogOptions): Log {
  const { maxBytes, keep, clock = systemClock, timers = systemTimers, stderr } = options;
  const { repeatMs = 60_000, checkMs = 1_000 } = options;
  const repeated = new Map<string, number>();
  let others = 0;
  let counting: Scheduled | undefined;
  const checking =
    stderr !== undefined && isSameFile(stderr, path)
      ? timers.every(checkMs, () => check(stderr), { background: true })
      : undefined;

  function write(level: string, text: string): void {
    const shown = linesOf(cut(text)).map(visible).join("\n    ");
    const line = `${new Date(clock()).toISOString()} ${level} ${shown}\n`;
    try {
      rotateBefore(Buffer.byteLength(line));
      appendFileSync(path, line, { mode: 0o600 });
    } catch (thrown) {
      // A full disk must not end the daemon that has to report it; its stderr may still be read.
      console.error(`${line.trimEnd()} (not logged: ${String(thrown)})`);
    }
  }

  function rotateBefore(bytes: number): void {
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size === 0 || size + bytes <= maxBytes) return;
    for (let age = keep - 1; age >= 1; age--)
      if (exists(`${path}.${age}`)) renameSync(`${path}.${age}`, `${path}.${age + 1}`);
    if (keep > 0) {
      copyFileSync(path, `${path}.1`);
      chmodSync(`${path}.1`, 0o600);
    }
    truncateSync(path);
  }

  /** The runtime can print while we are silent, also into a log that was removed. */
  function check(fd: number): void {
    try {
      rotateBefore(0);
      if (fstatSync(fd).size > maxBytes) ftruncateSync(fd);
    } catch (fault) {
      write("fault", `the log: ${asTielineError(fault).message}`);
    }
  }

  function tellCounts(): void {
    counting?.cancel();
    counting = undefined;
    for (const [text, count] of repeated)
      if (count > 0) write("fault", `${text} (${count} more ${count === 1 ? "time" : "times"})`);
    if (others > 0) write("fault", `${others} other ${others === 1 ? "fault" : "faults"}`);
    repeated.clear();
    others = 0;
  }

  return {
    info: (text) => write("info", text),

    fault(context, thrown) {
      const error = asTielineError(thrown);
      const text = cut(`${context}: ${error.code} ${error.message}`, 1_000);
      counting ??= timers.after(repeatMs, tellCounts, { background: true });
      const count = repeated.get(text);
      if (count !== undefined) return void repeated.set(text, count + 1);
      if (repeated.size === maxDifferent) return void others++;
      repeated.set(text, 0);
      const stack = thrown instanceof Error && error.code === "INTERNAL" ? `\n${thrown.stack}` : "";
      write("fault", `${text}${stack}`);
    },

    [Symbol.dispose]() {
      checking?.cancel();
      tellCounts();
    },
  };
}

const exists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

function isSameFile(fd: number, path: string): boolean {
  const there = statSync(path, { throwIfNoEntry: false });
  return there !== undefined && there.isFile() && sameInode(fstatSync(fd), there);
}

const sameInode = (one: Stats, other: Stats): boolean => one.dev === other.dev && one.ino === other.ino;

const cut = (text: string, length = maxEntryLength): string =>
  text.length <= length ? text : `${text.slice(0, length)}…`;

/**
 * Keeps the logs short that programs of agents write beside their sockets. They are opened to append, so that one which
 * is emptied continues from its beginning.
 */
export function emptyLongLogs(folder: string, maxBytes: number): void {
  for (const name of entriesIn(folder).filter((one) => one.endsWith(".log"))) {
    const path = join(folder, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isFile() && stats.size > maxBytes) truncateSync(path);
  }
}
