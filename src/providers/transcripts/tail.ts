import { nextTurn } from "../../os/nextTurn.ts";
import { wholeLines } from "../../os/wholeLines.ts";
import { Entries, type Entry } from "./entries.ts";
import type { LineReader } from "./port.ts";

/** How far back a file is read that was not looked at before. */
const lookBackBytes = 4 * 1024 * 1024;
/**
 * Lines of which a message may still be looked for after they were read: it is settled a moment after it was written.
 */
const keptEntries = 2_000;

/** The entries of a growing file. One that shrank or was replaced is read from its beginning. */
export class Tail {
  private offset: number | null = null;
  private inode = 0;
  private readonly entries = new Entries();
  private kept: Entry[] = [];

  constructor(
    private readonly path: string,
    private readonly below: readonly string[],
    private readonly reader: LineReader,
    private readonly lookBack = lookBackBytes,
  ) {}

  /** What was read recently, oldest first. */
  get recent(): readonly Entry[] {
    return this.kept;
  }

  /** What was written since the last look, piece by piece: other work continues in between. */
  async *read(): AsyncIterable<Entry> {
    for (;;) {
      const found = wholeLines(this.path, { below: this.below }, ({ size, inode }) => {
        if (this.offset === null) return Math.max(0, size - this.lookBack);
        return inode === this.inode && size >= this.offset ? this.offset : 0;
      });
      if (found === null) return;
      this.inode = found.inode;
      this.offset = found.end;
      const entries = found.bytes
        .toString("utf8")
        .split("\n")
        .flatMap((text) => this.entryOf(text));
      this.kept = [...this.kept, ...entries].slice(-keptEntries);
      yield* entries;
      if (!found.more) return;
      await nextTurn();
    }
  }

  private entryOf(text: string): Entry[] {
    const line = this.reader(text);
    return line === null ? [] : this.entries.of(line);
  }
}
