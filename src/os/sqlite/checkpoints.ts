import type { Connection } from "./connection.ts";

export interface CheckpointOptions {
  readonly report: (context: string, fault: unknown) => void;
  /** Called after each. */
  readonly onCheckpoint?: () => void;
  /** So long must nothing have been written. */
  readonly idleMs?: number;
  /** After so long it happens although something is being written. */
  readonly atMostMs?: number;
}

/** SQLite's own default. */
const automaticPages = 1_000;

/**
 * Moves what is in the log into the database as soon as nothing else is going on, so that the database does not live in
 * its log alone. SQLite by itself does so after four megabytes, in the middle of a transaction.
 */
export class Checkpoints implements Disposable {
  #timer: Timer | null = null;
  #firstAt = 0;
  #lastAt = 0;
  #holds = 0;

  constructor(
    private readonly connection: Connection,
    private readonly options: CheckpointOptions,
  ) {}

  /** Something was written. */
  wrote(): void {
    this.#lastAt = performance.now();
    if (this.#timer !== null) return;
    this.#firstAt = this.#lastAt;
    this.#later();
  }

  /** Everything that is committed is in the database when this returns. */
  now(): void {
    this.#stopTimer();
    const row = this.connection.run(() => this.connection.statement("PRAGMA wal_checkpoint(PASSIVE)").get());
    const { busy, log, checkpointed } = row as { busy: number; log: number; checkpointed: number };
    if (busy !== 0 || checkpointed < log) throw new Error("the log is in use");
    this.options.onCheckpoint?.();
  }

  /** Until the result is disposed of, the file of the database stays as it is; what is written goes to the log. */
  hold(): Disposable {
    if (this.#holds++ === 0) this.connection.database.run("PRAGMA wal_autocheckpoint = 0");
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (isOver) return;
        isOver = true;
        if (--this.#holds > 0) return;
        this.connection.database.run(`PRAGMA wal_autocheckpoint = ${automaticPages}`);
        this.wrote();
      },
    };
  }

  [Symbol.dispose](): void {
    this.#stopTimer();
    this.#holds = Infinity;
  }

  #later(): void {
    const { idleMs = 1_000 } = this.options;
    this.#timer = setTimeout(() => this.#due(), idleMs);
    this.#timer.unref();
  }

  #due(): void {
    const { idleMs = 1_000, atMostMs = 30_000, report } = this.options;
    const now = performance.now();
    this.#timer = null;
    if (this.#holds > 0) return;
    if (now - this.#lastAt < idleMs / 2 && now - this.#firstAt < atMostMs) return this.#later();
    try {
      this.now();
    } catch (fault) {
      report("checkpoint", fault);
    }
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
