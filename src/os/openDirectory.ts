/**
 * Directories that a possibly hostile agent can write to. Where the system allows it (Linux), a directory is opened
 * once without following a link and everything in it is reached through that handle, so that swapping the directory for
 * a link afterwards leads nowhere else.
 */
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
} from "node:fs";
import { thisUser } from "./untrustedFile.ts";

const throughHandles = existsSync("/proc/self/fd");

export interface OpenDirectory {
  readonly fd: number;
  /** The path of an entry, by way of the handle. */
  entry(name: string): string;
  /** Which directory this is, whatever its path leads to later. */
  readonly identity: string;
  /** Who owns the workspace, and so may read what Tieline puts there. */
  readonly owner: Owner;
  close(): void;
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

export function openWorkspace(path: string): OpenDirectory {
  return directoryAt(path, openSync(path, constants.O_RDONLY | constants.O_DIRECTORY));
}

/**
 * A directory in `parent` that other users cannot read. It is made where it is missing, and closed to others where it
 * is this user's. Throws ELOOP or ENOTDIR when it is a link or no directory.
 */
export function openPrivateDirectory(parent: OpenDirectory, name: string): OpenDirectory {
  const path = parent.entry(name);
  makeDirectory(path);
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const directory = directoryAt(path, fd, parent.owner);
  try {
    // The owner of the workspace can rename a directory of this user to `name`, so only an empty one is given away.
    const isOurs = fstatSync(fd).uid === thisUser();
    const mayClose = isOurs && (parent.owner.uid === thisUser() || readdirSync(directory.entry(".")).length === 0);
    if (mayClose) keepPrivate(fd, parent.owner);
  } catch (error) {
    directory.close();
    throw error;
  }
  return directory;
}

function directoryAt(path: string, fd: number, owner?: Owner): OpenDirectory {
  const { dev, ino, uid, gid } = fstatSync(fd);
  const base = throughHandles ? `/proc/self/fd/${fd}` : path;
  return {
    fd,
    entry: (name) => `${base}/${name}`,
    identity: `${dev}:${ino}`,
    owner: owner ?? { uid, gid },
    close: () => closeSync(fd),
  };
}

/**
 * Closes a file or directory of this user to all but the owner of the workspace. Where that is another user it becomes
 * theirs, or, if the system does not allow this user to give it away, stays readable to all who can enter the
 * workspace.
 */
export function keepPrivate(fd: number, owner: Owner): void {
  const { uid, mode } = fstatSync(fd);
  if (uid !== thisUser()) return;
  const readable = (mode & 0o700) | ((mode & 0o500) >> 3) | ((mode & 0o500) >> 6);
  const wanted = owner.uid === uid || giveTo(fd, owner) ? mode & 0o700 : readable;
  if (wanted !== (mode & 0o777)) allowed(() => fchmodSync(fd, wanted));
}

const giveTo = (fd: number, { uid, gid }: Owner): boolean => allowed(() => fchownSync(fd, uid, gid));

/** Some file systems have no owners or modes. */
function allowed(change: () => void): boolean {
  try {
    change();
    return true;
  } catch (error) {
    if (isErrno(error, "EPERM", "EINVAL", "ENOTSUP", "ENOSYS")) return false;
    throw error;
  }
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!isErrno(error, "EEXIST")) throw error;
  }
}

/** The owner of a workspace may write in it: its agent may run as a user of its own. */
export function ownersOf(workspace: string | null): readonly number[] {
  const stats = workspace === null ? undefined : statSync(workspace, { throwIfNoEntry: false });
  return stats === undefined ? [] : [stats.uid];
}

export function isErrno(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && codes.includes((error as NodeJS.ErrnoException).code ?? "");
}
