/** Whether other users of the machine could have written a file, or could put another one into its place. */
import { lstatSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { systemAccounts, userWords, type Accounts } from "./accounts.ts";
import { thisUser } from "./untrustedFile.ts";

export interface ExposureOptions {
  readonly uid?: number;
  readonly accounts?: () => Accounts;
  readonly stat?: (path: string) => Pick<Stats, "uid" | "gid" | "mode">;
}

export interface Exposure {
  /** The file, or the directory above it, that is the problem. */
  readonly path: string;
  /** A sentence without its end: "/p/tieline.yaml can be written by other users (mode 666)". */
  readonly why: string;
  readonly remedy: string;
}

const byGroup = 0o020;
const byEveryone = 0o002;
const sticky = 0o1000;

/**
 * null: only this user and root could. A file, or a directory of files, must belong to this user. The directories
 * above it belong to this user or root; where others may write in one, it must be sticky, as /tmp is. `path` has no
 * links in it.
 */
export function exposureOf(
  path: string,
  { uid = thisUser(), accounts = systemAccounts, stat = lstatSync }: ExposureOptions = {},
): Exposure | null {
  const own = stat(path);
  if (own.uid !== uid) return foreign(path, own.uid, "run: chown");
  if (isOpen(own)) return writable(path, own.mode, "");
  for (let directory = dirname(path); ; directory = dirname(directory)) {
    const above = stat(directory);
    if (above.uid !== uid && above.uid !== 0)
      return foreign(directory, above.uid, "move the project into a directory of your own, or run: chown");
    if (isOpen(above) && (above.mode & sticky) === 0) return writable(directory, above.mode, " and is not sticky");
    if (directory === dirname(directory)) return null;
  }

  /**
   * A group of one's own is no other user: with a umask of 002, which many systems set, everything is writable by it.
   */
  function isOpen({ mode, gid }: Pick<Stats, "mode" | "gid">): boolean {
    if (mode & byEveryone) return true;
    return (mode & byGroup) !== 0 && !accounts().isPrivateGroup(gid, uid);
  }

  function foreign(at: string, owner: number, remedy: string): Exposure {
    return { path: at, why: `${at} belongs to ${userWords(owner, accounts())}`, remedy: `${remedy} ${uid} ${at}` };
  }

  function writable(at: string, mode: number, more: string): Exposure {
    return {
      path: at,
      why: `${at} can be written by other users${more} (mode ${(mode & 0o7777).toString(8)})`,
      remedy: `run: chmod go-w ${at}`,
    };
  }
}
