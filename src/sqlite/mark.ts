/**
 * How many transactions a database has seen, kept in a small file beside it. A database that has seen fewer has lost some:
 * its log was removed or damaged, or an older copy was put in its place.
 *
 * The mark is written after each transaction and without waiting for the disk, so it costs nothing and survives the death of
 * the process. It reaches the disk with the next checkpoint, so that after a power cut it may be behind, and never ahead.
 */
import { closeSync, fdatasync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { atomicWrite } from "../os/atomicWrite.ts";
import { untrustedText } from "../os/untrustedFile.ts";

export interface Mark {
  /** The id of the mailbox. */
  readonly id: string;
  readonly commits: number;
}

export const markOf = (database: string): string => `${database}-mark`;

/** null: there is none, or what is there says nothing. */
export function readMark(database: string): Mark | null {
  const text = untrustedText(markOf(database), { maxBytes: 4096 }) ?? "";
  const [, id, commits, digest] = /^tieline-mailbox (\S+) (\d+) ([0-9a-f]+)\n$/.exec(text) ?? [];
  if (id === undefined || commits === undefined) return null;
  const mark: Mark = { id, commits: Number(commits) };
  return digest === digestOf(mark) ? mark : null;
}

export function writeMark(database: string, mark: Mark): void {
  atomicWrite(markOf(database), textOf(mark));
}

/** A mark that follows its database while it is open. */
export class OpenMark implements Disposable {
  readonly #fd: number;
  #isWritten = true;
  #isClosed = false;

  constructor(
    database: string,
    private readonly id: string,
    private readonly report: (context: string, fault: unknown) => void,
  ) {
    this.#fd = openSync(markOf(database), "r+");
  }

  set(commits: number): void {
    try {
      // The text has always the same length, so that this replaces all of it, in one sector of the disk.
      writeSync(this.#fd, textOf({ id: this.id, commits }), 0);
      this.#isWritten = true;
    } catch (fault) {
      // A mark that is behind misses a loss; it never claims one.
      if (this.#isWritten) this.report("write the mark of the mailbox", fault);
      this.#isWritten = false;
    }
  }

  /** To the disk, in the background. */
  sync(): void {
    if (this.#isClosed) return;
    fdatasync(this.#fd, (fault) => {
      if (fault && !this.#isClosed) this.report("sync the mark of the mailbox", fault);
    });
  }

  [Symbol.dispose](): void {
    if (this.#isClosed) return;
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
  return `tieline-mailbox ${mark.id} ${String(mark.commits).padStart(16, "0")} ${digestOf(mark)}\n`;
}

const digestOf = ({ id, commits }: Mark): string => Bun.hash.xxHash64(`${id} ${commits}`).toString(16).padStart(16, "0");
