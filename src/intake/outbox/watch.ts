/**
 * Reads a workspace's outbox, in lexical order and exactly once:
 *
 *     .outbox/0001_coder.json → .outbox/.taken/<key> → accept(entry, key) → removed
 *                             ↘ .outbox/.rejected/0001_coder.json, and 0001_coder.json.reason.txt beside it
 *
 * The name under which a file was taken is its key. It is new for every file, because writers use names again, and it
 * is on disk before `accept` is called. After a crash what lies in `.taken` is accepted again under the same key, which
 * an idempotent `accept` turns into nothing.
 *
 * A burst of files costs the same per file as a single one: one pass at a time, each file read by itself, other work in
 * between. When `accept` refuses for now, everything behind that file waits where it is.
 */
import { closeSync, openSync, fsync, lstatSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { asTielineError, TielineError } from "../../model/errors.ts";
import { elapsedFor, uuidv4, type Clock, type Elapsed, type RandomBytes } from "../../model/ids.ts";
import { runForever } from "../../os/runForever.ts";
import { pacer, systemTimers, type Timers } from "../../os/timers.ts";
import { readUntrusted, refusalError, userOrRoot, type FileContent, type FileRefusal } from "../../os/untrustedFile.ts";
import {
  type OpenDirectory,
  isErrno,
  keepPrivate,
  openPrivateDirectory,
  openWorkspace,
  ownersOf,
} from "../../os/openDirectory.ts";
import { createBell, renewWatcher, type Watcher } from "../../os/watchFolder.ts";
import { maxFileBytes, type OutboxEntry, parseOutboxFile } from "./parse.ts";

export interface RejectedFile {
  /** The file's name in `.outbox/.rejected`. */
  name: string;
  reason: string;
}

export interface OutboxOptions {
  workspace: string;
  /**
   * Resolves when the message is durable; the same key means the same message. A permanent TielineError moves the file
   * to `.rejected`; after any other error the file is offered again.
   */
  accept: (entry: OutboxEntry, key: string) => Promise<unknown>;
  onRejected?: (rejected: RejectedFile) => void;
  /** Something that is not a file's fault: an unreadable outbox, an `accept` that failed for now. */
  onFault?: (fault: TielineError) => void;
  /** Everything that was there is handled; broken files may still be growing. */
  onIdle?: () => void;
  signal: AbortSignal;
  /** How long a broken file must stay as it is before it counts as broken and not as half-written. */
  settleMs?: number;
  /** The sweep behind the watch; without inotify it is 500. */
  rescanMs?: number;
  clock?: Clock;
  timers?: Timers;
  random?: RandomBytes;
}

/** Runs until the signal aborts; resolves when nothing is open any more. Never rejects. */
export async function watchOutbox(options: OutboxOptions): Promise<void> {
  const reader = new OutboxReader(options);
  const { timers = systemTimers } = options;
  const bell = createBell(options.signal, timers);
  const outbox = join(options.workspace, ".outbox");
  const { rescanMs = 5_000 } = options;
  let watcher: Watcher | undefined;
  const step = async (): Promise<void> => {
    watcher = renewWatcher(watcher, outbox, bell.ring);
    const { dueInMs, refused } = await reader.sweep();
    // The first sweep makes the directory: watch it and look again before waiting.
    if (!watcher && (watcher = renewWatcher(watcher, outbox, bell.ring))) return;
    // New files change nothing about a refusal, and each look costs something.
    if (refused) await timers.pause(Math.min(refusedMs, rescanMs), options.signal);
    else await bell.wait(Math.min(watcher ? rescanMs : Math.min(500, rescanMs), dueInMs));
  };
  const report = (_: string, fault: unknown): void => options.onFault?.(asTielineError(fault));
  await runForever(`the outbox of ${options.workspace}`, options.signal, step, report, { timers });
  watcher?.close();
}

const batchSize = 256;
/** How many names, the first in order, are held in memory at once. */
const maxNames = 16_384;
/** How long a file that was refused for now waits. */
const refusedMs = 1_000;
const sync = promisify(fsync);

interface Sweep {
  /** In how many milliseconds a broken file is due, Infinity if there is none. */
  dueInMs: number;
  /** Something could not be accepted or read for now. */
  refused: boolean;
}

interface BrokenFile {
  state: string;
  sinceAt: number;
}

interface Folders {
  outbox: OpenDirectory;
  taken: OpenDirectory;
  rejected: OpenDirectory;
}

class OutboxReader {
  /** Broken files that may still be growing. */
  private broken = new Map<string, BrokenFile>();
  /** Names that are no UTF-8 were reported, and there still are some. */
  private reportedNames = false;
  private readonly elapsed: Elapsed;
  private readonly settleMs: number;
  private readonly timers: Timers;
  private readonly owners: readonly number[];

  constructor(private readonly options: OutboxOptions) {
    this.elapsed = elapsedFor(options.clock);
    this.settleMs = options.settleMs ?? 1_000;
    this.owners = [...userOrRoot(), ...ownersOf(options.workspace)];
    this.timers = options.timers ?? systemTimers;
  }

  /** Handles all there is. */
  async sweep(): Promise<Sweep> {
    let folders: Folders | undefined;
    try {
      folders = openFolders(this.options.workspace);
      await this.acceptTaken(folders);
      const dueInMs = await this.takeAll(folders);
      await this.reportUnreachable(folders);
      if (!this.options.signal.aborted) this.options.onIdle?.();
      return { dueInMs, refused: false };
    } catch (error) {
      this.options.onFault?.(
        isErrno(error, "ELOOP", "ENOTDIR") ? linkFault(this.options.workspace, error) : asTielineError(error),
      );
      return { dueInMs: Infinity, refused: true };
    } finally {
      if (folders) for (const folder of Object.values(folders)) folder.close();
    }
  }

  private async takeAll(folders: Folders): Promise<number> {
    const pace = pacer(this.timers);
    const stillBroken = new Map<string, BrokenFile>();
    let dueInMs = Infinity;
    for (let all = false; !all && !this.options.signal.aborted;) {
      const { names, more } = await namesInOrder(
        folders.outbox,
        (name) => isMessageFile(name) && !stillBroken.has(name),
        this.timers,
      );
      all = true;
      for (let from = 0; from < names.length && !this.options.signal.aborted; from += batchSize) {
        let took = false;
        for (const name of names.slice(from, from + batchSize)) {
          const result = this.examine(folders, name);
          // A pass in which every file was missing would be followed by the same one.
          if (more && result !== "missing") all = false;
          if (result === "taken") took = true;
          else if (typeof result === "object") {
            stillBroken.set(name, result);
            dueInMs = Math.min(dueInMs, Math.max(1, result.sinceAt + this.settleMs - this.elapsed()));
          }
          await pace();
        }
        if (!took) continue;
        // One sync for many files: the keys survive a power cut before anything is accepted under them.
        await sync(folders.taken.fd);
        await this.acceptTaken(folders);
      }
    }
    this.broken = stillBroken;
    return dueInMs;
  }

  /** Takes or rejects a file, or says since when it is broken in the same way. */
  private examine({ outbox, taken, rejected }: Folders, name: string): "taken" | "missing" | BrokenFile | undefined {
    try {
      const file = this.read(outbox.entry(name));
      if (!file.ok && file.why === "missing") return "missing";
      const parsed = file.ok ? parseOutboxFile(file.bytes) : unfit(file);
      if (parsed.ok) {
        renameSync(outbox.entry(name), taken.entry(`${shortName(name)}~${uuidv4(this.options.random)}`));
        return "taken";
      }
      if (!parsed.mayGrow) return this.reject(outbox, rejected, name, name, parsed.reason);
      const state = file.ok ? `${file.stats.ino}:${file.stats.size}:${file.stats.mtimeMs}` : file.why;
      const before = this.broken.get(name);
      const broken = before?.state === state ? before : { state, sinceAt: this.elapsed() };
      if (this.elapsed() - broken.sinceAt < this.settleMs) return broken;
      return this.reject(outbox, rejected, name, name, parsed.reason);
    } catch (error) {
      if (isErrno(error, "ENOENT")) return "missing";
      throw error;
    }
  }

  /** Accepts what was taken, in order; stops at the first that cannot be accepted for now. */
  private async acceptTaken({ taken, rejected }: Pick<Folders, "taken" | "rejected">): Promise<void> {
    const pace = pacer(this.timers);
    const { names, more } = await firstNames(taken, () => true, this.timers);
    let progressed = false;
    for (const key of names) {
      await pace();
      if (this.options.signal.aborted) return;
      const name = key.replace(/~[^~]*$/, "");
      const file = this.read(taken.entry(key));
      if (!file.ok && file.why === "missing") continue;
      progressed = true;
      const parsed = file.ok ? parseOutboxFile(file.bytes) : unfit(file);
      if (!parsed.ok) {
        this.reject(taken, rejected, key, name, parsed.reason);
        continue;
      }
      try {
        await this.options.accept(parsed.entry, key);
      } catch (error) {
        const fault = asTielineError(error);
        if (fault.type !== "permanent") throw fault;
        this.reject(taken, rejected, key, name, `${fault.code}: ${fault.message}; ${fault.remedy}`);
        continue;
      }
      rmSync(taken.entry(key), { force: true });
    }
    if (more && progressed) await this.acceptTaken({ taken, rejected });
  }

  /** Once, until there are no such files any more. */
  private async reportUnreachable({ outbox, taken }: Folders): Promise<void> {
    const names = [...(await readdir(outbox.entry("."))).filter(isMessageFile), ...(await readdir(taken.entry(".")))];
    const count = names.filter((name) => !isReachable(name)).length;
    if (count > 0 && !this.reportedNames) this.options.onFault?.(unreachableFault(this.options.workspace, count));
    this.reportedNames = count > 0;
  }

  /** A refusal of the system, which is no fault of the file, is thrown. */
  private read(path: string): FileContent | FileRefusal {
    const file = readUntrusted(path, { maxBytes: maxFileBytes, owners: this.owners, singleName: true });
    if (!file.ok && file.why === "unreadable") throw refusalError(path, file);
    return file;
  }

  private reject(
    from: OpenDirectory,
    rejected: OpenDirectory,
    current: string,
    name: string,
    reason: string,
  ): undefined {
    const free = freeName(rejected, shortName(name), this.options.random);
    renameSync(from.entry(current), rejected.entry(free));
    const fd = openSync(rejected.entry(`${free}.reason.txt`), "wx", 0o600);
    try {
      keepPrivate(fd, rejected.owner);
      writeFileSync(fd, `${reason}\n`);
    } finally {
      closeSync(fd);
    }
    this.options.onRejected?.({ name: free, reason });
  }
}

function openFolders(workspace: string): Folders {
  const opened: OpenDirectory[] = [];
  const kept = (directory: OpenDirectory): OpenDirectory => {
    opened.push(directory);
    return directory;
  };
  try {
    const root = kept(openWorkspace(workspace));
    const outbox = kept(openPrivateDirectory(root, ".outbox"));
    const taken = kept(openPrivateDirectory(outbox, ".taken"));
    const rejected = kept(openPrivateDirectory(outbox, ".rejected"));
    root.close();
    return { outbox, taken, rejected };
  } catch (error) {
    for (const directory of opened) directory.close();
    throw error;
  }
}

function linkFault(workspace: string, cause: unknown): TielineError {
  return new TielineError("NOT_PERMITTED", `the outbox of ${workspace} is not a plain directory of that workspace`, {
    remedy: "remove the link or file at .outbox, .outbox/.taken or .outbox/.rejected",
    operands: { workspace },
    cause,
  });
}

const isMessageFile = (name: string): boolean => name.endsWith(".json") && !name.startsWith(".");

/** A name that is no UTF-8 is listed with replacement characters, and no file has the name that is listed. */
const isReachable = (name: string): boolean => !name.includes("\ufffd");

function unreachableFault(workspace: string, count: number): TielineError {
  const which = count === 1 ? "1 file has a name" : `${count} files have names`;
  return new TielineError(
    "FILE_REFUSED",
    `in the outbox of ${workspace} ${which} not in UTF-8, or with U+FFFD; no such file is read`,
    {
      remedy: "rename the files in .outbox and .outbox/.taken, or remove them",
      operands: { workspace, count },
    },
  );
}

/** Leaves room for what is added to the name, in a file system that allows 255 bytes. */
function shortName(name: string): string {
  return name.replace(/[^\w.-]/g, "_").slice(0, 120);
}

/** `name`, then `2~name` and so on; when an agent uses a name again and again, one that is surely free. */
function freeName(directory: OpenDirectory, name: string, random?: RandomBytes): string {
  const isThere = (entry: string) => lstatSync(directory.entry(entry), { throwIfNoEntry: false }) !== undefined;
  const candidates = [name, ...Array.from({ length: 8 }, (_, at) => `${at + 2}~${name}`)];
  const free = candidates.find((one) => !isThere(one) && !isThere(`${one}.reason.txt`));
  return free ?? `${uuidv4(random)}~${name}`;
}

/** A file that is being linked to its place has two names for a moment. */
const unfit = ({ why, detail }: FileRefusal) =>
  ({ ok: false, reason: `it ${detail}`, mayGrow: why === "secondName" }) as const;

/**
 * The first of the wanted names, with none missing before a name that is there. A listing may miss a file that is made
 * meanwhile and have one that is made after it. So what one listing has at most is listed again: whatever was made
 * before those is there by then.
 */
async function namesInOrder(
  directory: OpenDirectory,
  isWanted: (name: string) => boolean,
  timers: Pick<Timers, "nextTurn">,
): Promise<{ names: string[]; more: boolean }> {
  const first = await firstNames(directory, isWanted, timers);
  const last = first.names.at(-1);
  if (last === undefined) return first;
  const { names, more } = await firstNames(directory, (name) => isWanted(name) && name <= last, timers);
  return { names, more: more || first.more };
}

/** The first of the wanted names that can be opened, in order. An agent may make as many files as it likes. */
async function firstNames(
  directory: OpenDirectory,
  isWanted: (name: string) => boolean,
  timers: Pick<Timers, "nextTurn">,
): Promise<{ names: string[]; more: boolean }> {
  const all = await readdir(directory.entry("."));
  let names: string[] = [];
  let more = false;
  for (let from = 0; from < all.length; from += maxNames, await timers.nextTurn()) {
    const piece = all.slice(from, from + maxNames).filter((name) => isReachable(name) && isWanted(name));
    names = [...names, ...piece].sort();
    more ||= names.length > maxNames;
    names = names.slice(0, maxNames);
  }
  return { names, more };
}
