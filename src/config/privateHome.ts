import { chmodSync, lstatSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { Home } from "../client/home.ts";
import { TielineError } from "../model/errors.ts";
import { thisUser } from "../os/untrustedFile.ts";

const byOthers = { write: 0o022, read: 0o044, enter: 0o011, any: 0o077 } as const;

interface TooOpen {
  readonly path: string;
  readonly mode: number;
  /** A secret that others could read. */
  readonly isLeaked: boolean;
}

export type PrivateFiles = Pick<Home, "root" | "userToken" | "mailbox" | "config">;

/**
 * Makes sure that the home belongs to this user alone; called at every start, before anything in it is used. What is
 * this user's and merely too open is tightened. What another user owns, or could have changed, is refused. Answers what
 * was tightened, for the log and for `tieline doctor`.
 */
export function secureHome(files: PrivateFiles): readonly string[] {
  mkdirSync(files.root, { recursive: true, mode: 0o700 });
  return tooOpenIn(files).map(({ path, mode, isLeaked }) => {
    const enough = path === files.root ? 0o700 : 0o600;
    chmodSync(path, enough);
    const changed = `${path} had mode ${octal(mode)}, which lets other users in; it is ${octal(enough)} now`;
    return isLeaked
      ? `${changed}. Other users could read it: for a new one run \`rm ${path}\` and \`tieline daemon stop\``
      : changed;
  });
}

/** Throws HOME_UNSAFE for what may not be used; answers what is this user's and too open. Changes nothing. */
export function tooOpenIn({ root, userToken, mailbox, config }: PrivateFiles): readonly TooOpen[] {
  const { uid, mode } = statSync(root);
  if (uid !== thisUser()) throw foreign(root, uid);
  const named = [userToken, mailbox, `${mailbox}-wal`, config];
  for (const path of mode & byOthers.write ? readdirSync(root).map((name) => join(root, name)) : named)
    refuseForeign(path, root, mode);

  // Behind a directory that others cannot enter, the mode of a file does no harm.
  const isReachable = (mode & byOthers.enter) !== 0;
  const found: TooOpen[] = mode & byOthers.any ? [{ path: root, mode, isLeaked: false }] : [];
  for (const path of named) {
    const file = statSync(path, { throwIfNoEntry: false });
    if (!file) continue;
    if (isReachable && file.mode & byOthers.write) throw writable(path, file.mode);
    const isLeaked = isReachable && path === userToken && (file.mode & byOthers.read) !== 0;
    if (file.mode & (path === config ? byOthers.write : byOthers.any)) found.push({ path, mode: file.mode, isLeaked });
  }
  return found;
}

/** A link counts as a file of its owner, and so does what it leads to. */
function refuseForeign(path: string, root: string, homeMode: number): void {
  const link = lstatSync(path, { throwIfNoEntry: false });
  const target = link?.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : undefined;
  const owner = [link, target].find((one) => one !== undefined && one.uid !== thisUser())?.uid;
  if (owner === undefined) return;
  const open = homeMode & byOthers.write ? `, and other users can write in ${root} (mode ${octal(homeMode)})` : "";
  throw new TielineError("HOME_UNSAFE", `${path} belongs to another user (uid ${owner})${open}`, {
    remedy:
      `see what it is; then remove it (rm -r ${path}) or make it yours (chown ${thisUser()} ` +
      `${path})${open && `, and run: chmod 700 ${root}`}`,
    operands: { path, owner, user: thisUser() },
  });
}

const foreign = (root: string, owner: number): TielineError =>
  new TielineError("HOME_UNSAFE", `${root} belongs to another user (uid ${owner})`, {
    remedy:
      "run Tieline as that user, set TIELINE_HOME to a directory of your own, or make this one yours: chown -R " +
      `${thisUser()} ${root}`,
    operands: { path: root, owner, user: thisUser() },
  });

const writable = (path: string, mode: number): TielineError =>
  new TielineError("HOME_UNSAFE", `other users could write ${path} (mode ${octal(mode)})`, {
    remedy: `check that ${basename(path)} is what you left there, then run: chmod 600 ${path}`,
    operands: { path, mode: octal(mode) },
  });

const octal = (mode: number): string => (mode & 0o777).toString(8);
