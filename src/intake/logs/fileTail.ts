/**
 * One log file of an agent, and the messages in it.
 *
 * What is remembered of a file is the start of its last entry and how far the messages of that entry were accepted. It
 * is written only after `onMessages` resolved. So a block that arrives in two reads, or before and after a restart, is
 * read as a whole, and after a crash the same messages come again under the same keys.
 *
 * A message that cannot be accepted for now is kept, and nothing more is read before it is: what is held in memory is
 * what one piece of the file contains.
 */
import { basename } from "node:path";
import { elapsedFor, type Clock } from "../../model/ids.ts";
import { pacer, systemTimers, type Timers } from "../../os/timers.ts";
import { openUntrusted, refusalError, type FileRules, type OpenFile } from "../../os/untrustedFile.ts";
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
  /**
   * Plain: which stream a file continues, and how many bytes were cut off. Positions are those of the
   * stream.
   */
  partOf?: (path: string) => { stream: string; before: number };
  /** Which files are read, wherever links lead that the agent made. */
  rules?: FileRules;
  offsets: OffsetStore;
  /** Resolves when it is accepted; a key that was accepted before is accepted again, whatever its content. */
  onMessage: (message: LoggedMessage) => Promise<unknown>;
  onRejected?: (fragment: RejectedFragment, path: string) => void;
  signal: AbortSignal;
  /** How long a file must be quiet until its last entry counts as ended. */
  settleMs?: number;
  /** How long the pause must be to end a turn in the middle of a line or a code fence. */
  unfinishedMs?: number;
  clock?: Clock;
  timers?: Timers;
}

const unsplit: LogSplitter = { push: (bytes) => [{ kind: "text", bytes: Buffer.from(bytes) }] };

const chunkSize = 64 * 1024;
/** So much of a file is read before the others get their turn. */
const longestRead = 4 << 20;
/** Of what a program prints without a pause, in bytes. */
const longestTurn = 256 * 1024;

export class FileTail {
  readonly inode: number;
  private readonly file: OpenFile;
  private position: LogPosition;
  /** Where everything before was accepted. */
  private reached: LogPosition;
  private readTo = 0;
  private splitter!: LogSplitter;
  private parser!: TextParser;
  private decoder!: TextDecoder;
  private inResponse = false;
  private saved: LogPosition | null = null;
  private grewAt: number;
  private settled = true;
  private quiet = false;
  /** Read, and not accepted yet. */
  private undelivered: LoggedMessage[] = [];
  /** The name under which its position is remembered, and what was cut off before it. */
  private readonly part: { readonly stream: string; readonly before: number };

  constructor(
    public path: string,
    private readonly options: FileTailOptions,
    /** Of a file that nothing is remembered of, so many bytes are left alone. */
    skipBytes: number,
  ) {
    const file = openUntrusted(path, { ...options.rules, link: "resolve" });
    if (!file.ok) throw refusalError(path, file);
    this.file = file;
    const { ino, size } = file.stats;
    this.inode = ino;
    this.part = options.partOf?.(path) ?? { stream: path, before: 0 };
    this.grewAt = this.now();
    const remembered = options.offsets.get(this.part.stream);
    if (remembered && (options.partOf || remembered.inode === ino) && this.holds(remembered))
      this.position = { ...remembered, inode: ino };
    else
      this.position = {
        inode: ino,
        offset: remembered || skipBytes === 0 ? this.part.before : this.lineStartBefore(Math.min(size, skipBytes)),
        loggedAt: "",
        through: -1,
      };
    this.reached = this.position;
    this.startAt(this.position.offset);
    // From here on the file is a known one, also when it stays as it is until the next start.
    this.saved = remembered ?? null;
    if (!remembered) this.save();
  }

  /** Something is kept that could not be accepted for now. */
  get waits(): boolean {
    return this.undelivered.length > 0;
  }

  /** Everything that was there is read and accepted, and nothing more follows from it. */
  get isQuiet(): boolean {
    return this.quiet;
  }

  /**
   * Reads what is new. Returns in how many milliseconds the last entry is due to be taken as ended, 0 when there is
   * more.
   */
  async read(): Promise<number> {
    this.quiet = false;
    await this.deliver([]);
    if (this.end() < this.readTo || !this.holds(this.position)) this.startOver();
    const dueInMs = (await this.readOn()) ? 0 : await this.settle();
    this.quiet = dueInMs === Infinity;
    return dueInMs;
  }

  /** The file was rotated away or removed: its end is the end of its last entry. */
  async finish(): Promise<void> {
    await this.deliver([]);
    while (await this.readOn());
    await this.deliver(this.fresh(this.parser.end()));
  }

  moveTo(path: string): void {
    this.path = path;
    this.saved = null;
    this.save();
  }

  close(): void {
    this.file[Symbol.dispose]();
  }

  private now(): number {
    return elapsedFor(this.options.clock)();
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

  /** Says whether there is more. */
  private async readOn(): Promise<boolean> {
    const pace = pacer(this.options.timers ?? systemTimers);
    for (let read = 0; read < longestRead && !this.options.signal.aborted; read += chunkSize, await pace()) {
      const chunk = this.file.read(this.readTo - this.part.before, chunkSize);
      const count = chunk.length;
      if (count === 0) return false;
      this.grewAt = this.now();
      this.settled = false;
      const lines = this.options.plain ? chunk.lastIndexOf(0x0a, count - 1) + 1 : count;
      this.readTo += lines;
      await this.take(chunk.subarray(0, lines));
      if (this.options.plain) this.shortenTurn();
      this.readTo += count - lines;
      await this.take(chunk.subarray(lines, count));
    }
    return !this.options.signal.aborted;
  }

  /** A program that never pauses ends no turn. After a whole line with nothing open, what it printed is done with. */
  private shortenTurn(): void {
    if (this.readTo - this.position.offset > longestTurn && this.parser.unfinished() === null) this.nextTurn();
  }

  /** Of the stream, in bytes. */
  private end(): number {
    return this.part.before + this.file.size();
  }

  private async take(bytes: Uint8Array): Promise<void> {
    const messages: LoggedMessage[] = [];
    for (const piece of this.splitter.push(bytes)) {
      if (piece.kind === "text")
        messages.push(...this.fresh(this.parser.push(this.decoder.decode(piece.bytes, { stream: true }))));
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
   * or a fence that is not finished takes a longer pause: most writers continue, but one that never does must not be
   * silenced. A block waits for its END however long that takes.
   */
  private async settle(): Promise<number> {
    if (!this.inResponse || this.settled) return Infinity;
    const { settleMs = 1_000, unfinishedMs = 60_000, plain = false } = this.options;
    const unfinished = this.parser.unfinished();
    const leftMs =
      (unfinished === "line" || unfinished === "fence" ? unfinishedMs : settleMs) - (this.now() - this.grewAt);
    if (leftMs > 0) return leftMs;
    await this.deliver(this.fresh(this.parser.peekEnd()));
    this.settled = true;
    // What a program printed has no entries, so its pauses end its turns.
    if (plain && unfinished !== "block" && unfinished !== "line" && this.position.offset !== this.readTo)
      this.nextTurn();
    return Infinity;
  }

  private nextTurn(): void {
    this.position = { ...this.position, offset: this.readTo, through: -1 };
    this.reached = this.position;
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
    this.undelivered.push(...messages);
    const pace = pacer(this.options.timers ?? systemTimers);
    for (let next = this.undelivered[0]; next; next = this.undelivered[0]) {
      await this.options.onMessage(next);
      this.undelivered.shift();
      await pace();
    }
    this.reached = this.position;
    this.save();
  }

  /** Remembering is a durable write; a program that prints a lot without addresses costs none. */
  private save(): void {
    const { offset, through, loggedAt, inode } = this.reached;
    const { saved } = this;
    if (saved?.offset === offset && saved.through === through && saved.loggedAt === loggedAt && saved.inode === inode)
      return;
    this.saved = this.reached;
    this.options.offsets.set(this.options.partOf ? this.part.stream : this.path, this.reached);
  }

  /** Whether the remembered entry is still at its place. */
  private holds({ offset, loggedAt }: LogPosition): boolean {
    if (offset < this.part.before || this.end() < offset) return false;
    return loggedAt === "" || this.file.read(offset, loggedAt.length + 1).toString("latin1") === `[${loggedAt}`;
  }

  private lineStartBefore(size: number): number {
    for (let end = size; end > 0;) {
      const from = Math.max(0, end - chunkSize);
      const last = this.file.read(from, end - from).lastIndexOf(0x0a);
      if (last >= 0) return from + last + 1;
      end = from;
    }
    return 0;
  }
}
