import { rmSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { TielineError, type ErrorCode, type ErrorDetails } from "../../model/errors.ts";
import { renameDurably } from "../../os/atomicWrite.ts";
import type { Checkpoints } from "../../os/sqlite/checkpoints.ts";
import { corrupt } from "../../os/sqlite/faults.ts";
import type { CopyTask } from "./copy.ts";
import type { Examination } from "./examine.ts";

export interface SnapshotsParts {
  readonly path: string;
  readonly checkpoints: Pick<Checkpoints, "now" | "hold">;
  /** Starts `compose/copyist.ts`; the task is the last argument. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly freeBytes?: (directory: string) => number;
  readonly deadlineMs?: number;
}

/** Left free for mail. */
const marginBytes = 32 * 1024 * 1024;

/**
 * Copies of an open mailbox. All that is committed is moved into its file, which then stays as it is while another
 * process reads it; meanwhile messages are stored in the log, and no sender waits.
 */
export class Snapshots implements AsyncDisposable {
  #turn: Promise<unknown> = Promise.resolve();
  #child: Bun.Subprocess<"ignore", "pipe", "ignore"> | null = null;
  #isClosed = false;

  constructor(private readonly parts: SnapshotsParts) {}

  /** Puts a copy there, whole or not at all. Throws STORE_CORRUPT, and keeps no copy, if the mailbox is damaged. */
  take(to: string): Promise<Examination> {
    return this.#next(async () => {
      this.#mustFit(dirname(to));
      const draft = `${to}.${process.pid}.new`;
      try {
        const examination = await this.#run({ from: this.parts.path, to: draft });
        renameDurably(draft, to);
        return examination;
      } finally {
        for (const suffix of ["", "-journal"]) rmSync(draft + suffix, { force: true });
      }
    });
  }

  /** Reads the whole mailbox. Throws STORE_CORRUPT if it is damaged. */
  check(): Promise<Examination> {
    return this.#next(() => this.#run({ from: this.parts.path, to: null }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#child?.kill("SIGKILL");
    await this.#turn.catch(() => undefined);
  }

  /** One at a time: each keeps the disk and a processor busy. */
  #next<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn
      .catch(() => undefined)
      .then(() => {
        if (this.#isClosed)
          throw new TielineError("DAEMON_UNAVAILABLE", "the daemon is stopping", { remedy: "try again" });
        return work();
      });
    this.#turn = turn;
    return turn;
  }

  #mustFit(directory: string): void {
    const { path, freeBytes = freeOn } = this.parts;
    const needed = statSync(path).size + marginBytes;
    const free = freeBytes(directory);
    if (free >= needed) return;
    const found = `but only ${megabytes(free)} are free`;
    const message = `a copy of the mailbox needs ${megabytes(needed)} in ${directory}, ${found}`;
    throw new TielineError("STORE_UNAVAILABLE", message, {
      remedy: "free some space, or run `tieline backup FILE` with a file on another disk; mail is not affected",
      operands: { needed, free, directory },
    });
  }

  async #run(task: CopyTask): Promise<Examination> {
    const { path, checkpoints, command, env, deadlineMs = 600_000 } = this.parts;
    checkpoints.now();
    using _held = checkpoints.hold();
    const child = Bun.spawn([...command, JSON.stringify(task)], {
      env: { ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
      timeout: deadlineMs,
      killSignal: "SIGKILL",
    });
    this.#child = child;
    try {
      const output = await new Response(child.stdout).text();
      await child.exited;
      const examination = resultIn(output, child);
      if (examination.damage !== null) throw corrupt(path, examination.damage);
      return examination;
    } finally {
      this.#child = null;
    }
  }
}

interface Result {
  readonly examination?: Examination;
  readonly error?: ErrorDetails & { readonly code: ErrorCode; readonly message: string };
}

function resultIn(
  output: string,
  { exitCode, signalCode }: Pick<Bun.Subprocess, "exitCode" | "signalCode">,
): Examination {
  const { examination, error }: Result = output === "" ? {} : (JSON.parse(output) as Result);
  if (examination) return examination;
  if (error) throw new TielineError(error.code, error.message, error);
  const message = `the mailbox could not be copied: the process for it exited with ${signalCode ?? exitCode}`;
  throw new TielineError("STORE_UNAVAILABLE", message, { remedy: "try again; mail is not affected" });
}

function freeOn(directory: string): number {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
    throw new TielineError("TARGET_NOT_FOUND", `there is no directory ${directory}`, {
      remedy: "create it, or choose another one",
      operands: { directory },
      cause,
    });
  }
}

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(0)} MB`;
