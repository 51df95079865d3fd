/**
 * Follows an agent's log files and hands on the messages in them.
 *
 * What is remembered of a file is the start of its last entry and how far the messages of that entry were accepted. It is
 * written only after `onMessages` resolved. So a block that arrives in two reads, or before and after a restart, is read as
 * a whole, and after a crash the same messages come again under the same keys.
 */
import { closeSync, constants, existsSync, fstatSync, openSync, readlinkSync, readSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { asTielineError, TielineError } from "../../model/errors.ts";
import { isErrno } from "../../workspace/directory.ts";
import { createBell, renewWatcher, type Watcher } from "../../workspace/watching.ts";
import { createLogSplitter, type LogSplitter } from "../text/logEntries.ts";
import { createTextParser, type ParsedMessage, type RejectedFragment, type TextParser } from "../text/parser.ts";

export interface LogPosition {
  inode: number;
  /** Where the first entry that is not completely handled begins, in bytes. */
  offset: number;
  /** That entry's date and time, to see that the file is still the same; empty when no entry was seen. */
  loggedAt: string;
  /** `at` of the entry's last accepted message, -1 for none. */
  through: number;
}

export interface OffsetStore {
  get(path: string): LogPosition | undefined;
  set(path: string, position: LogPosition): void;
}

export interface LoggedMessage extends ParsedMessage {
  /** The same for the same message however often it is read. */
  key: string;
}

export interface TailOptions {
  /** Where the pattern starts from. */
  root: string;
  /** A glob such as `logs/*.txt`. */
  pattern: string;
  /** The files are what a program printed, without entries: a pause ends a turn. A file's name is never used again. */
  plain?: boolean;
  /** Plain: which stream a file has the rest of, and how many bytes of it were cut off. Positions are those of the stream. */
  partOf?: (path: string) => { stream: string; before: number };
  /** A directory that no file may lie outside of, wherever links lead that the agent made. */
  within?: string;
  offsets: OffsetStore;
  /** Resolves when all are accepted; a key that was accepted before is accepted again, whatever its content. */
  onMessages: (messages: LoggedMessage[]) => Promise<unknown>;
  onRejected?: (fragment: RejectedFragment, path: string) => void;
  onFault?: (fault: TielineError, path: string) => void;
  signal: AbortSignal;
  /** What to do with the content of files that are there at the start and that nothing is remembered of. */
  unknownFiles?: "read" | "skip";
  /** How long a file must be quiet until its last entry counts as ended. */
  settleMs?: number;
  /** Plain: how long the pause must be to end a turn with a code fence that was never closed. */
  fenceMs?: number;
  rescanMs?: number;
  now?: () => number;
}

/** Runs until the signal aborts; resolves when nothing is open any more. Never rejects. */
export async function tailLogs(options: TailOptions): Promise<void> {
  const bell = createBell(options.signal);
  const tails = new Map<string, FileTail>();
  const watchers = new Map<string, Watcher | undefined>();
  try {
    for (let first = true; !options.signal.aborted; first = false) {
      const paths = pathsOf(options);
      const unwatched = renewWatchers(watchers, options.root, paths, bell.ring);
      const dueInMs = await sweep(options, tails, paths, first && options.unknownFiles === "skip");
      await bell.wait(Math.min(unwatched ? 500 : (options.rescanMs ?? 5_000), dueInMs));
    }
  } finally {
    for (const watcher of watchers.values()) watcher?.close();
    for (const tail of tails.values()) tail.close();
  }
}

function pathsOf({ root, pattern, partOf, onFault }: TailOptions): string[] {
  try {
    const paths = [...new Bun.Glob(pattern).scanSync({ cwd: root, dot: true, onlyFiles: true })].sort().map((path) => join(root, path));
    return partOf ? latestParts(paths, partOf) : paths;
  } catch (error) {
    if (!isErrno(error, "ENOENT")) onFault?.(asTielineError(error), root);
    return [];
  }
}

/** Of a stream, the part from which the most was cut off: it has all that is left of those before it. */
function latestParts(paths: readonly string[], partOf: NonNullable<TailOptions["partOf"]>): string[] {
  const latest = new Map<string, string>();
  for (const path of paths.toSorted((a, b) => partOf(a).before - partOf(b).before)) latest.set(partOf(path).stream, path);
  return [...latest.values()].sort();
}

/** Says whether some directory cannot be watched. */
function renewWatchers(watchers: Map<string, Watcher | undefined>, root: string, paths: string[], ring: () => void): boolean {
  const directories = new Set([root, ...paths.map((path) => dirname(path))]);
  for (const [directory, watcher] of watchers) {
    if (directories.has(directory)) continue;
    watcher?.close();
    watchers.delete(directory);
  }
  for (const directory of directories) watchers.set(directory, renewWatcher(watchers.get(directory), directory, ring));
  return [...watchers.values()].includes(undefined);
}

/** Reads everything that is new. Returns in how many milliseconds a quiet file is due. */
async function sweep(options: TailOptions, tails: Map<string, FileTail>, paths: string[], skip: boolean): Promise<number> {
  let dueInMs = Infinity;
  followRenames(tails, paths);
  for (const path of new Set([...tails.keys(), ...paths])) {
    if (options.signal.aborted) break;
    try {
      const inode = inodeOf(path);
      let tail = tails.get(path);
      if (tail && (tail.inode !== inode || (options.partOf && !paths.includes(path)))) {
        // The rest of a stream goes on in its next part.
        if (!options.partOf) await tail.finish();
        tail.close();
        tails.delete(path);
        tail = undefined;
      }
      if (inode === undefined || !(paths.includes(path) || tail)) continue;
      if (!tail) tails.set(path, (tail = new FileTail(path, options, skip)));
      dueInMs = Math.min(dueInMs, await tail.read());
    } catch (error) {
      // What was not accepted is read again from what is remembered.
      tails.get(path)?.close();
      tails.delete(path);
      if (!isErrno(error, "ENOENT")) options.onFault?.(asTielineError(error), path);
    }
  }
  return dueInMs;
}

/** A log that was rotated to a name that also matches is still the same log. */
function followRenames(tails: Map<string, FileTail>, paths: string[]): void {
  for (const path of paths) {
    const inode = inodeOf(path);
    if (tails.get(path)?.inode === inode) continue;
    for (const tail of tails.values()) {
      if (tail.inode !== inode || inodeOf(tail.path) === inode) continue;
      tails.delete(tail.path);
      tail.moveTo(path);
      tails.set(path, tail);
      break;
    }
  }
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/** Asks for what was opened, where the system can tell: a path may lead elsewhere a moment later. */
function checkWithin(directory: string, fd: number, path: string): void {
  const handle = `/proc/self/fd/${fd}`;
  const real = existsSync(handle) ? readlinkSync(handle) : realpathSync(path);
  if (real.startsWith(`${realpathSync(directory)}/`)) return;
  throw new TielineError("NOT_PERMITTED", `${path} leads out of ${directory}`, { remedy: "remove the link", operands: { path, directory } });
}

const unsplit: LogSplitter = { push: (bytes) => [{ kind: "text", bytes: Buffer.from(bytes) }] };

const chunkSize = 64 * 1024;
/** Of what a program prints without a pause, in bytes. */
const longestTurn = 256 * 1024;

class FileTail {
  readonly inode: number;
  private readonly fd: number;
  private position: LogPosition;
  private readTo = 0;
  private splitter!: LogSplitter;
  private parser!: TextParser;
  private decoder!: TextDecoder;
  private inResponse = false;
  private saved: LogPosition | null = null;
  private grewAt: number;
  private settled = true;
  /** The name under which its position is remembered, and what was cut off before it. */
  private readonly part: { readonly stream: string; readonly before: number };

  constructor(
    public path: string,
    private readonly options: TailOptions,
    skip: boolean,
  ) {
    this.fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (options.within !== undefined) checkWithin(options.within, this.fd, path);
    } catch (error) {
      closeSync(this.fd);
      throw error;
    }
    const { ino, size } = fstatSync(this.fd);
    this.inode = ino;
    this.part = options.partOf?.(path) ?? { stream: path, before: 0 };
    this.grewAt = this.now();
    const remembered = options.offsets.get(this.part.stream);
    if (remembered && (options.partOf || remembered.inode === ino) && this.holds(remembered)) this.position = { ...remembered, inode: ino };
    else this.position = { inode: ino, offset: remembered || !skip ? this.part.before : this.lineStartBefore(size), loggedAt: "", through: -1 };
    this.startAt(this.position.offset);
    // From here on the file is a known one, also when it stays as it is until the next start.
    this.saved = remembered ?? null;
    if (!remembered) this.save();
  }

  /** Reads what is new. Returns in how many milliseconds the last entry is due to be taken as ended. */
  async read(): Promise<number> {
    if (this.end() < this.readTo || !this.holds(this.position)) this.startOver();
    await this.readToEnd();
    return this.settle();
  }

  /** The file was rotated away or removed: its end is the end of its last entry. */
  async finish(): Promise<void> {
    await this.readToEnd();
    await this.deliver(this.fresh(this.parser.end()));
  }

  moveTo(path: string): void {
    this.path = path;
    this.saved = null;
    this.save();
  }

  close(): void {
    closeSync(this.fd);
  }

  private now(): number {
    return (this.options.now ?? Date.now)();
  }

  private startOver(): void {
    this.position = { inode: this.inode, offset: this.part.before, loggedAt: "", through: -1 };
    this.startAt(this.part.before);
  }

  private startAt(offset: number): void {
    const { plain = false } = this.options;
    this.readTo = offset;
    this.splitter = plain ? unsplit : createLogSplitter(offset);
    this.beginTurn();
    this.inResponse = plain;
  }

  private beginTurn(): void {
    const { onRejected } = this.options;
    this.decoder = new TextDecoder();
    this.parser = createTextParser(onRejected ? { onRejected: (fragment) => onRejected(fragment, this.path) } : {});
  }

  private async readToEnd(): Promise<void> {
    const chunk = new Uint8Array(chunkSize);
    while (!this.options.signal.aborted) {
      const count = readSync(this.fd, chunk, 0, chunkSize, this.readTo - this.part.before);
      if (count === 0) return;
      this.grewAt = this.now();
      this.settled = false;
      const lines = this.options.plain ? chunk.lastIndexOf(0x0a, count - 1) + 1 : count;
      await this.take(chunk.subarray(0, lines));
      this.readTo += lines;
      if (this.options.plain) this.shortenTurn();
      await this.take(chunk.subarray(lines, count));
      this.readTo += count - lines;
    }
  }

  /** A program that never pauses ends no turn. After a whole line with nothing open, what it printed is done with. */
  private shortenTurn(): void {
    if (this.readTo - this.position.offset > longestTurn && this.parser.unfinished() === null) this.nextTurn();
  }

  /** Of the stream, in bytes. */
  private end(): number {
    return this.part.before + fstatSync(this.fd).size;
  }

  private async take(bytes: Uint8Array): Promise<void> {
    const messages: LoggedMessage[] = [];
    for (const piece of this.splitter.push(bytes)) {
      if (piece.kind === "text") messages.push(...this.fresh(this.parser.push(this.decoder.decode(piece.bytes, { stream: true }))));
      else {
        if (this.inResponse) messages.push(...this.fresh(this.parser.end()));
        this.inResponse = piece.isResponse;
        // The entry that reading began with may be one of which some messages are accepted already.
        if (piece.offset !== this.position.offset || this.position.loggedAt === "") {
          this.position = { inode: this.inode, offset: piece.offset, loggedAt: piece.loggedAt, through: -1 };
        }
        this.beginTurn();
      }
    }
    await this.deliver(messages);
  }

  /** When the file is quiet, its last entry counts as ended. Later additions to it are read as its continuation. */
  private async settle(): Promise<number> {
    if (!this.inResponse) return Infinity;
    const quietMs = this.now() - this.grewAt;
    const settleMs = this.options.settleMs ?? 1_000;
    if (!this.settled) {
      if (quietMs < settleMs) return settleMs - quietMs;
      await this.deliver(this.fresh(this.parser.peekEnd()));
      this.settled = true;
    }
    return this.options.plain ? this.endTurn(quietMs) : Infinity;
  }

  /**
   * What a program printed has no entries, so its pauses end its turns. A block waits for its END however long that takes;
   * a fence that nobody closes would silence the program for good, and is given up after a longer pause.
   */
  private endTurn(quietMs: number): number {
    const { fenceMs = 60_000 } = this.options;
    const unfinished = this.parser.unfinished();
    if (unfinished === "fence" && quietMs < fenceMs) return fenceMs - quietMs;
    if (unfinished === "block" || unfinished === "line" || this.position.offset === this.readTo) return Infinity;
    this.nextTurn();
    return Infinity;
  }

  private nextTurn(): void {
    this.position = { ...this.position, offset: this.readTo, through: -1 };
    this.beginTurn();
    this.save();
  }

  /** The messages of the current entry that were not accepted yet, with their keys. */
  private fresh(messages: ParsedMessage[]): LoggedMessage[] {
    const { offset, loggedAt, through } = this.position;
    const fresh = messages.filter(({ at }) => at > through);
    const last = fresh.at(-1);
    if (last) this.position = { ...this.position, through: last.at };
    // Inodes are used again; what tells the files of a program apart is their names, what tells logs apart their dates.
    const file = this.options.plain ? basename(this.part.stream) : String(this.inode);
    return fresh.map((message) => ({ ...message, key: `${file}:${offset}:${loggedAt}:${message.at}` }));
  }

  private async deliver(messages: LoggedMessage[]): Promise<void> {
    if (messages.length > 0) await this.options.onMessages(messages);
    this.save();
  }

  /** Remembering is a durable write; a program that prints a lot and says nothing to anybody costs none. */
  private save(): void {
    const { offset, through, loggedAt, inode } = this.position;
    const { saved } = this;
    if (saved?.offset === offset && saved.through === through && saved.loggedAt === loggedAt && saved.inode === inode) return;
    this.saved = this.position;
    this.options.offsets.set(this.options.partOf ? this.part.stream : this.path, this.position);
  }

  /** Whether the remembered entry still stands where it stood. */
  private holds({ offset, loggedAt }: LogPosition): boolean {
    if (offset < this.part.before || this.end() < offset) return false;
    const start = Buffer.alloc(loggedAt.length + 1);
    return loggedAt === "" || (readSync(this.fd, start, 0, start.length, offset) > 0 && start.toString("latin1") === `[${loggedAt}`);
  }

  private lineStartBefore(size: number): number {
    const last = Buffer.alloc(1);
    let at = size;
    while (at > 0 && readSync(this.fd, last, 0, 1, at - 1) === 1 && last[0] !== 0x0a) at--;
    return at;
  }
}
