import { systemFiles, type GrowingFiles } from "../../os/growingFiles.ts";
import { systemTimers, type Timers } from "../../os/timers.ts";
import { Entries, type Entry } from "./entries.ts";
import type { LineReader } from "./port.ts";

/** How far back a file is read that was not looked at before. */
const lookBackBytes = 4 * 1024 * 1024;
/**
 * Lines of which a message may still be looked for after they were read: it is settled a moment after it was written.
 */
const keptEntries = 2_000;

type TailFiles = Pick<GrowingFiles, "wholeLines">;

export interface TailReading {
  readonly files?: TailFiles;
  readonly timers?: Pick<Timers, "nextTurn">;
  /** How far back the file is read first. */
  readonly lookBack?: number;
}

/** The entries of a growing file. One that shrank or was replaced is read from its beginning. */
export class Tail {
  private offset: number | null = null;
  private inode = 0;
  private readonly entries = new Entries();
  private kept: Entry[] = [];
  private readonly files: TailFiles;
  private readonly timers: Pick<Timers, "nextTurn">;
  private readonly lookBack: number;

  constructor(
    private readonly path: string,
    private readonly below: readonly string[],
    private readonly reader: LineReader,
    { files = systemFiles, timers = systemTimers, lookBack = lookBackBytes }: TailReading = {},
  ) {
    [this.files, this.timers, this.lookBack] = [files, timers, lookBack];
  }

  /** What was read recently, oldest first. */
  get recent(): readonly Entry[] {
    return this.kept;
  }

  /** What was written since the last look, piece by piece: other work continues in between. */
  async *read(): AsyncIterable<Entry> {
    for (;;) {
      const found = this.files.wholeLines(this.path, { below: this.below }, ({ size, inode }) => {
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
      await this.timers.nextTurn();
    }
  }

  private entryOf(text: string): Entry[] {
    const line = this.reader(text);
    return line === null ? [] : this.entries.of(line);
  }
}
