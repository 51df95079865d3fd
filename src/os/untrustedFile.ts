/**
 * Files that other programs or users can choose, replace or write: transcripts, project files, settings of agent
 * programs, outboxes, logs. Such a file is opened without following links and without blocking, and used only if it is
 * a regular file of an allowed owner in an allowed place. What was opened is checked, not what the path named a moment
 * earlier.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
  type Stats,
} from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { TielineError } from "../model/errors.ts";

export interface FileRules {
  /** Directories. The file must be inside one of them after links are resolved. Left out: anywhere. */
  readonly below?: string | readonly string[];
  /** Left out: no limit. Reads of an open file are bounded by their length. */
  readonly maxBytes?: number;
  /** The user ids that may own the file. Left out: this user. `anyone`: what it says is not trusted either. */
  readonly owners?: readonly number[] | "anyone";
  /** What a link as the last part of the path means: refused, or its target under the same rules. Left out: refused. */
  readonly link?: "refuse" | "resolve";
  /** Refuse a file that has a second name (a hard link). */
  readonly singleName?: boolean;
}

/** `unreadable`: the system refused; `cause` has its error. */
export type RefusalReason =
  | "missing"
  | "link"
  | "notRegular"
  | "owner"
  | "outside"
  | "tooLarge"
  | "secondName"
  | "unreadable";

export interface FileRefusal {
  readonly ok: false;
  readonly why: RefusalReason;
  /** Completes a sentence that begins with the path: "is a FIFO, not a regular file". */
  readonly detail: string;
  readonly cause?: unknown;
}

export interface OpenFile extends Disposable {
  readonly ok: true;
  readonly fd: number;
  /** As it was opened. */
  readonly stats: Stats;
  /** How long it is now. */
  size(): number;
  /** At most `length` bytes from `offset`; fewer only at the end of the file. */
  read(offset: number, length: number): Buffer;
}

export interface FileContent {
  readonly ok: true;
  readonly bytes: Buffer;
  readonly stats: Stats;
}

export const thisUser = (): number => process.getuid?.() ?? 0;

/** For files that an administrator may provide. */
export const userOrRoot = (): readonly number[] => [thisUser(), 0];

/** Settings of the user, which may be kept elsewhere behind a link. */
export const settingsRules = (maxBytes = 4 << 20): FileRules & { readonly maxBytes: number } => ({
  maxBytes,
  link: "resolve",
  owners: userOrRoot(),
});

/** Never throws for anything that the file is or does. */
export function openUntrusted(path: string, rules: FileRules = {}): OpenFile | FileRefusal {
  if (path.includes("\0")) return refusal("missing", "is no path: it has a NUL byte");
  let fd: number | null = null;
  try {
    const target = rules.link === "resolve" ? realpathSync(path) : path;
    // A device is not even opened: for some, opening is an action.
    const seen = unfitness(lstatSync(target), rules);
    if (seen) return seen;
    // A FIFO that takes the file's place after this look must not block.
    fd = openSync(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY);
    const stats = fstatSync(fd);
    const unfit = unfitness(stats, rules) ?? misplaced(fd, stats, target, rules.below);
    if (unfit) return unfit;
    const opened = openFile(fd, stats);
    fd = null;
    return opened;
  } catch (cause) {
    return refusalFor(cause);
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

/** Whether a path, which need not exist yet, leads into a directory once the links on its way are resolved. */
export function leadsInto(path: string, directory: string): boolean {
  if (path.includes("\0") || !isAbsolute(path)) return false;
  try {
    return isBelow(join(realParent(dirname(path)), basename(path)), directory);
  } catch (thrown) {
    if (codeOf(thrown) === "ELOOP" || codeOf(thrown) === "EACCES") return false;
    throw thrown;
  }
}

function realParent(directory: string): string {
  try {
    return realpathSync(directory);
  } catch (thrown) {
    if (codeOf(thrown) !== "ENOENT" || directory === dirname(directory)) throw thrown;
    return join(realParent(dirname(directory)), basename(directory));
  }
}

/**
 * The whole file, of at most `maxBytes`, also when it grows while it is read. Never throws for what the file is or
 * does.
 */
export function readUntrusted(
  path: string,
  rules: FileRules & { readonly maxBytes: number },
): FileContent | FileRefusal {
  const file = openUntrusted(path, rules);
  if (!file.ok) return file;
  using _ = file;
  try {
    // One byte more than the limit shows that it has grown beyond it.
    const bytes = readFrom(file.fd, 0, rules.maxBytes + 1, file.stats.size + 1);
    return bytes.length > rules.maxBytes
      ? tooLarge(bytes.length, rules.maxBytes)
      : { ok: true, bytes, stats: file.stats };
  } catch (cause) {
    return refusalFor(cause);
  }
}

/** The text of a file; null when there is none. Throws FILE_REFUSED, or what the system said. */
export function untrustedText(path: string, rules: FileRules & { readonly maxBytes: number }): string | null {
  const file = readUntrusted(path, rules);
  if (file.ok) return file.bytes.toString("utf8");
  if (file.why === "missing") return null;
  throw refusalError(path, file);
}

/**
 * A refusal as an error. What the system refused for now (no file descriptors left, an I/O error) stays the system's
 * error.
 */
export function refusalError(path: string, { why, detail, cause }: FileRefusal): unknown {
  if (why === "unreadable" && cause !== undefined) return cause;
  return new TielineError("FILE_REFUSED", `${path} ${detail}`, {
    remedy: remedies[why],
    operands: { path, why },
    cause,
  });
}

const remedies: Readonly<Record<RefusalReason, string>> = {
  missing: "check the path",
  link: "put the file itself there instead of a link",
  notRegular: "replace it by a regular file, or remove it",
  owner: "only files of your own are used; copy it, or change its owner with chown",
  outside: "use a file inside that directory, not a link that leaves it",
  tooLarge: "make it smaller, or move it away",
  secondName: "copy the file instead of hard-linking it",
  unreadable: "check the permissions of the file and its directory",
};

const chunkBytes = 64 * 1024;

function openFile(fd: number, stats: Stats): OpenFile {
  return {
    ok: true,
    fd,
    stats,
    size: () => fstatSync(fd).size,
    read: (offset, length) => readFrom(fd, offset, length),
    [Symbol.dispose]: () => closeSync(fd),
  };
}

function readFrom(fd: number, offset: number, length: number, expected = length): Buffer {
  const chunks: Buffer[] = [];
  let total = 0;
  while (total < length) {
    const chunk = Buffer.allocUnsafe(Math.min(total === 0 ? expected : chunkBytes, length - total));
    const count = readSync(fd, chunk, 0, chunk.length, offset + total);
    if (count === 0) break;
    chunks.push(chunk.subarray(0, count));
    total += count;
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, total);
}

function unfitness(
  stats: Stats,
  { maxBytes = Infinity, owners = [thisUser()], singleName = false }: FileRules,
): FileRefusal | null {
  if (stats.isSymbolicLink()) return refusal("link", "is a link; links are not followed here");
  if (!stats.isFile()) return refusal("notRegular", `is a ${kindOf(stats)}, not a regular file`);
  if (owners !== "anyone" && !owners.includes(stats.uid))
    return refusal("owner", `belongs to another user (uid ${stats.uid})`);
  if (singleName && stats.nlink > 1) return refusal("secondName", "is a hard link to a file that has other names, too");
  return stats.size > maxBytes ? tooLarge(stats.size, maxBytes) : null;
}

function misplaced(fd: number, stats: Stats, path: string, below: FileRules["below"]): FileRefusal | null {
  if (below === undefined) return null;
  const directories = typeof below === "string" ? [below] : below;
  const real = openedPath(fd, stats, path);
  if (real !== null && directories.some((directory) => isBelow(real, directory))) return null;
  return refusal("outside", `is not inside ${directories.join(" or ")}`);
}

/** Where an open file really is; null when that cannot be told. */
function openedPath(fd: number, stats: Stats, path: string): string | null {
  if (process.platform === "linux") return readlinkSync(`/proc/self/fd/${fd}`);
  const real = realpathSync(path);
  const there = statSync(real);
  return there.ino === stats.ino && there.dev === stats.dev ? real : null;
}

function isBelow(real: string, directory: string): boolean {
  try {
    const top = realpathSync(directory);
    return real.startsWith(top === "/" ? top : `${top}/`);
  } catch (thrown) {
    if (codeOf(thrown) === "ENOENT" || codeOf(thrown) === "ENOTDIR") return false;
    throw thrown;
  }
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return "directory";
  if (stats.isFIFO()) return "FIFO";
  return stats.isSocket() ? "socket" : "device";
}

const refusal = (why: RefusalReason, detail: string, cause?: unknown): FileRefusal => ({
  ok: false,
  why,
  detail,
  ...(cause !== undefined && { cause }),
});

const tooLarge = (size: number, limit: number): FileRefusal =>
  refusal("tooLarge", `has ${size} bytes; the limit is ${limit}`);

function refusalFor(cause: unknown): FileRefusal {
  const code = codeOf(cause);
  if (code === "ENOENT" || code === "ENOTDIR") return refusal("missing", "does not exist");
  if (code === "ELOOP") return refusal("link", "is a link; links are not followed here", cause);
  if (code === "ENXIO") return refusal("notRegular", "is a socket, not a regular file", cause);
  return refusal("unreadable", `cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
}

const codeOf = (thrown: unknown): string =>
  thrown instanceof Error ? ((thrown as NodeJS.ErrnoException).code ?? "") : "";
