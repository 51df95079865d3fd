import { TielineError } from "../model/errors.ts";
import { systemTimers, type Timers } from "../os/timers.ts";
import type { Store } from "./store.ts";

/** Collects verbs until the loop comes round, runs them in one commit and answers them all afterwards. */
export class CommitBatch {
  onCommit: () => void = () => undefined;
  onRollback: () => void = () => undefined;
  /** Called inside the commit, after its verbs. */
  beforeCommit: () => void = () => undefined;
  private jobs: { verb: () => unknown; resolve: (value: never) => void; reject: (reason: unknown) => void }[] = [];
  private flushing: Promise<void> | null = null;
  private closed = false;

  constructor(
    private readonly store: Store,
    private readonly timers: Pick<Timers, "nextTurn"> = systemTimers,
  ) {}

  run<T>(verb: () => T): Promise<T> {
    if (this.closed) return Promise.reject(closedError());
    return new Promise<T>((resolve, reject) => {
      this.jobs.push({ verb, resolve: resolve as (value: never) => void, reject });
      this.flushing ??= this.timers.nextTurn().then(() => this.flush());
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.flushing;
  }

  private flush(): void {
    this.flushing = null;
    const jobs = this.jobs;
    this.jobs = [];
    const answers: (() => void)[] = [];
    try {
      this.store.commit(() => {
        for (const { verb, resolve, reject } of jobs) answers.push(attempt(verb, resolve, reject));
        this.beforeCommit();
      });
    } catch (thrown) {
      this.onRollback();
      for (const { reject } of jobs) reject(thrown);
      return;
    }
    for (const answer of answers) answer();
    this.onCommit();
  }
}

/** A refusal is the caller's alone: it was thrown before anything was written. Anything else fails the whole batch. */
function attempt(verb: () => unknown, resolve: (value: never) => void, reject: (reason: unknown) => void): () => void {
  try {
    const value = verb() as never;
    return () => resolve(value);
  } catch (thrown) {
    if (isRefusal(thrown)) return () => reject(thrown);
    throw thrown;
  }
}

function isRefusal(thrown: unknown): boolean {
  if (thrown instanceof Error && thrown.name === "TagTaken") return true;
  return thrown instanceof TielineError && thrown.code !== "STORE_UNAVAILABLE" && thrown.code !== "STORE_CORRUPT";
}

const closedError = (): TielineError =>
  new TielineError("DAEMON_UNAVAILABLE", "the mailbox is closed", { remedy: "the daemon is stopping; try again" });
