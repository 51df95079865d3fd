/**
 * Directories that a possibly hostile agent can write to. Where the system allows it (Linux), a directory is opened once
 * without following a link and everything in it is reached through that handle, so that swapping the directory for a
 * link afterwards leads nowhere else.
 */
import { closeSync, constants, existsSync, fstatSync, mkdirSync, openSync, statSync } from "node:fs";

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

/** Whoever owns a workspace may write in it: its agent may run as a user of its own. */
export function ownersOf(workspace: string | null): readonly number[] {
  const stats = workspace === null ? undefined : statSync(workspace, { throwIfNoEntry: false });
  return stats === undefined ? [] : [stats.uid];
}

export function isErrno(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && codes.includes((error as NodeJS.ErrnoException).code ?? "");
}
