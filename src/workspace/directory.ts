/**
 * Directories that a possibly hostile agent can write to. Where the system allows it (Linux), a directory is opened once
 * without following a link and everything in it is reached through that handle, so that swapping the directory for a
 * link afterwards leads nowhere else.
 */
import { closeSync, constants, existsSync, fstatSync, lstatSync, mkdirSync, openSync, readSync, type Stats } from "node:fs";

const throughHandles = existsSync("/proc/self/fd");

export interface Directory {
  readonly fd: number;
  /** The path of an entry, by way of the handle. */
  entry(name: string): string;
  /** Which directory this is, whatever its path leads to later. */
  readonly identity: string;
  close(): void;
}

/** Throws ELOOP or ENOTDIR when `path` is a link or no directory. */
export function openDirectory(path: string, { create = false, follow = false } = {}): Directory {
  if (create) makeDirectory(path);
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | (follow ? 0 : constants.O_NOFOLLOW));
  const { dev, ino } = fstatSync(fd);
  const base = throughHandles ? `/proc/self/fd/${fd}` : path;
  return { fd, entry: (name) => `${base}/${name}`, identity: `${dev}:${ino}`, close: () => closeSync(fd) };
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (!isErrno(error, "EEXIST")) throw error;
  }
}

export type ReadFile = { ok: true; bytes: Uint8Array; stats: Stats } | { ok: false; reason: string; stats: Stats };

/** Reads a regular file of at most `maxBytes`. Anything else is not opened, and the reason says what it is. */
export function readRegularFile(path: string, maxBytes: number): ReadFile {
  const seen = lstatSync(path);
  const unfit = unfitness(seen, maxBytes);
  if (unfit) return { ok: false, reason: unfit, stats: seen };
  // NONBLOCK: a FIFO that takes the file's place between the two calls must not stop us.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(fd);
    const reason = unfitness(stats, maxBytes);
    if (reason) return { ok: false, reason, stats };
    const bytes = new Uint8Array(stats.size);
    let length = 0;
    while (length < bytes.length) {
      const count = readSync(fd, bytes, length, bytes.length - length, length);
      if (count === 0) break;
      length += count;
    }
    return { ok: true, bytes: bytes.subarray(0, length), stats };
  } finally {
    closeSync(fd);
  }
}

function unfitness(stats: Stats, maxBytes: number): string | undefined {
  if (stats.isSymbolicLink()) return "a link; links are never followed";
  if (!stats.isFile()) return `not a regular file but a ${kindOf(stats)}`;
  if (stats.size > maxBytes) return `${stats.size} bytes; at most ${maxBytes} are read`;
  return undefined;
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return "directory";
  if (stats.isFIFO()) return "FIFO";
  if (stats.isSocket()) return "socket";
  return "device";
}

export function isErrno(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && codes.includes((error as NodeJS.ErrnoException).code ?? "");
}
