/**
 * How many changes a database has seen, kept in a small file beside it. A database that has seen fewer has lost some:
 * its log was removed or damaged, or an older copy was put in its place.
 *
 * The mark is written a few milliseconds after a transaction, without waiting for the disk: it delays no sender and
 * survives the death of the process. It reaches the disk with the next checkpoint. So after a kill or a power cut it
 * may be behind, and it is never ahead.
 */
import { closeSync, fdatasync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { atomicWrite } from "../atomicWrite.ts";
import { untrustedText } from "../untrustedFile.ts";

export interface Mark {
  /** The id of the mailbox. */
  readonly id: string;
  readonly changes: number;
}

export const markOf = (database: string): string => `${database}-mark`;

/** null: there is none, or what is there says nothing. */
export function readMark(database: string): Mark | null {
  const text = untrustedText(markOf(database), { maxBytes: 4096 }) ?? "";
  const [, id, changes, digest] = /^tieline-mailbox (\S+) (\d+) ([0-9a-f]+)\n$/.exec(text) ?? [];
  if (id === undefined || changes === undefined) return null;
  const mark: Mark = { id, changes: Number(changes) };
  return digest === digestOf(mark) ? mark : null;
}

export function writeMark(database: string, mark: Mark): void {
  atomicWrite(markOf(database), textOf(mark));
}

/** So many changes may share one write. */
const pauseMs = 10;

/** A mark that follows its database while it is open. */
export class OpenMark implements Disposable {
  readonly #fd: number;
  #unwritten: number | null = null;
  #timer: Timer | null = null;
  #isFailing = false;
  #isClosed = false;

  constructor(
    database: string,
    private readonly id: string,
    private readonly report: (context: string, fault: unknown) => void,
  ) {
    this.#fd = openSync(markOf(database), "r+");
  }

  set(changes: number): void {
    this.#unwritten = changes;
    this.#timer ??= setTimeout(() => this.flush(), pauseMs);
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#unwritten === null || this.#isClosed) return;
    try {
      // The text has always the same length, so that this replaces the whole file, in one sector of the disk.
      writeSync(this.#fd, textOf({ id: this.id, changes: this.#unwritten }), 0);
      this.#unwritten = null;
      this.#isFailing = false;
    } catch (fault) {
      // A mark that is behind misses a loss; it never claims one.
      if (!this.#isFailing) this.report("write the mark of the mailbox", fault);
      this.#isFailing = true;
    }
  }

  /** To the disk, in the background. */
  sync(): void {
    if (this.#isClosed) return;
    this.flush();
    fdatasync(this.#fd, (fault) => {
      if (fault && !this.#isClosed) this.report("sync the mark of the mailbox", fault);
    });
  }

  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.flush();
    this.#isClosed = true;
    try {
      fdatasyncSync(this.#fd);
    } catch (fault) {
      this.report("sync the mark of the mailbox", fault);
    } finally {
      closeSync(this.#fd);
    }
  }
}

function textOf(mark: Mark): string {
  return `tieline-mailbox ${mark.id} ${String(mark.changes).padStart(16, "0")} ${digestOf(mark)}\n`;
}

const digestOf = ({ id, changes }: Mark): string =>
  Bun.hash.xxHash64(`${id} ${changes}`).toString(16).padStart(16, "0");
