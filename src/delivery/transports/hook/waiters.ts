/** The waiters that hooks of idle sessions leave behind. Each listens to its bell, a FIFO named after its session. */
import { constants, existsSync, openSync, closeSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { systemTimers, type Timers } from "../../../os/timers.ts";
import { renewWatcher } from "../../../os/watchFolder.ts";

export interface HookWaiters {
  /** Whether the session has a bell, heard or not. */
  hasBell(session: string): boolean;
  /** Whether the session's waiter runs. */
  isHeard(session: string): boolean;
  /** Whether it still takes mail. A waiter that has taken some holds its bell until it exits. */
  isReading(session: string): boolean;
  /** Lays out mail and rings; null: no waiter listens, and nothing is laid out. */
  give(session: string, id: number, text: string): GivenMail | null;
  /** Calls back when a waiter may have come or gone. */
  watch(changed: () => void): Disposable;
}

/** Mail that is laid out for a waiter. Either the waiter takes it, or we take it back. */
export interface GivenMail {
  /** Resolves when the waiter has it, or when the signal aborts. */
  taken(signal: AbortSignal): Promise<void>;
  /** False: the waiter has it. */
  takeBack(): boolean;
}

/** In a folder of bells. */
export function waitersIn(folder: string, timers: Pick<Timers, "every"> = systemTimers): HookWaiters {
  const bellOf = (session: string): string => join(folder, session);
  return {
    hasBell: (session) => existsSync(bellOf(session)),
    isHeard: (session) => isHeard(bellOf(session)),
    isReading: (session) => existsSync(`${bellOf(session)}.pid`),
    give(session, id, text) {
      const name = `${session}.mail.${id}`;
      const file = join(folder, name);
      writeFileSync(file, text, { mode: 0o600 });
      if (ring(bellOf(session), name))
        return { taken: (signal) => taken(file, folder, timers, signal), takeBack: () => takeBack(file) };
      rmSync(file, { force: true });
      return null;
    },
    watch(changed) {
      const watcher = renewWatcher(undefined, folder, changed);
      return { [Symbol.dispose]: () => watcher?.close() };
    },
  };
}

/** A FIFO can be opened for writing only while it is read. */
function isHeard(bell: string): boolean {
  const fd = openBell(bell);
  if (fd !== null) closeSync(fd);
  return fd !== null;
}

function ring(bell: string, word: string): boolean {
  const fd = openBell(bell);
  if (fd === null) return false;
  try {
    writeSync(fd, `${word}\n`);
    return true;
  } catch (thrown) {
    // It ended since the bell was opened.
    if ((thrown as NodeJS.ErrnoException).code === "EPIPE") return false;
    throw thrown;
  } finally {
    closeSync(fd);
  }
}

function openBell(bell: string): number | null {
  try {
    return openSync(bell, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (thrown) {
    if (["ENXIO", "ENOENT"].includes((thrown as NodeJS.ErrnoException).code ?? "")) return null;
    throw thrown;
  }
}

/** The waiter moves the file away before it reads it. Ends also when the attempt is called off. */
async function taken(file: string, folder: string, timers: Pick<Timers, "every">, signal: AbortSignal): Promise<void> {
  const gone = Promise.withResolvers<void>();
  const check = (): void => {
    if (signal.aborted || !existsSync(file)) gone.resolve();
  };
  // Where the system cannot watch the folder, it is checked now and then.
  const watcher = renewWatcher(undefined, folder, check);
  using _sweep = timers.every(watcher ? 1_000 : 20, check);
  signal.addEventListener("abort", check, { once: true });
  check();
  await gone.promise;
  watcher?.close();
}

/** The process that moves the file has it: the waiter, or the daemon. */
function takeBack(file: string): boolean {
  try {
    renameSync(file, `${file}.unread`);
    rmSync(`${file}.unread`);
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw thrown;
  }
}
