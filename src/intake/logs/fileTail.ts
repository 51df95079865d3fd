/**
 * One log file of an agent, and the messages in it.
 *
 * What is remembered of a file is the start of its last entry and how far the messages of that entry were accepted. It is
 * written only after `onMessages` resolved. So a block that arrives in two reads, or before and after a restart, is read as
 * a whole, and after a crash the same messages come again under the same keys.
 */
import { closeSync, constants, existsSync, fstatSync, openSync, readlinkSync, readSync, realpathSync } from "node:fs";
import { basename } from "node:path";
import { TielineError } from "../../model/errors.ts";
import { systemClock, type Clock } from "../../model/ids.ts";
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

export interface FileTailOptions {
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
  signal: AbortSignal;
  /** How long a file must be quiet until its last entry counts as ended. */
  settleMs?: number;
  /** How long the pause must be to end a turn in the middle of a line or a code fence. */
  unfinishedMs?: number;
  clock?: Clock;
}

const unsplit: LogSplitter = { push: (bytes) => [{ kind: "text", bytes: Buffer.from(bytes) }] };

const chunkSize = 64 * 1024;
/** Of what a program prints without a pause, in bytes. */
const longestTurn = 256 * 1024;

export class FileTail {
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
    private readonly options: FileTailOptions,
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
    return (this.options.clock ?? systemClock)();
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

  /**
   * When the file is quiet, its last entry counts as ended. Later additions to it are read as its continuation. A line
   * or a fence that is not finished takes a longer pause: most writers go on, but one that never does must not be
   * silenced. A block waits for its END however long that takes.
   */
  private async settle(): Promise<number> {
    if (!this.inResponse || this.settled) return Infinity;
    const { settleMs = 1_000, unfinishedMs = 60_000, plain = false } = this.options;
    const unfinished = this.parser.unfinished();
    const leftMs = (unfinished === "line" || unfinished === "fence" ? unfinishedMs : settleMs) - (this.now() - this.grewAt);
    if (leftMs > 0) return leftMs;
    await this.deliver(this.fresh(this.parser.peekEnd()));
    this.settled = true;
    // What a program printed has no entries, so its pauses end its turns.
    if (plain && unfinished !== "block" && unfinished !== "line" && this.position.offset !== this.readTo) this.nextTurn();
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

/** Asks for what was opened, where the system can tell: a path may lead elsewhere a moment later. */
function checkWithin(directory: string, fd: number, path: string): void {
  const handle = `/proc/self/fd/${fd}`;
  const real = existsSync(handle) ? readlinkSync(handle) : realpathSync(path);
  if (real.startsWith(`${realpathSync(directory)}/`)) return;
  throw new TielineError("NOT_PERMITTED", `${path} leads out of ${directory}`, { remedy: "remove the link", operands: { path, directory } });
}
