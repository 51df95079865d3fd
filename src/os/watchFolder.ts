/** Waiting for something to change in a directory, with a slow sweep behind the watch. */
import { type FSWatcher, lstatSync, watch } from "node:fs";
import { systemTimers, type Timers } from "./timers.ts";

export interface Watcher {
  identity: string;
  close(): void;
}

/** Bun tells of changes within a millisecond only once, at the first; so what came with it is looked for soon after. */
const soonMs = 5;

/** Keeps watching the directory that is there now; undefined where the system cannot watch it. Never throws. */
export function renewWatcher(watcher: Watcher | undefined, path: string, ring: () => void): Watcher | undefined {
  const identity = identityOf(path);
  if (watcher && watcher.identity === identity) return watcher;
  watcher?.close();
  if (identity === undefined) return undefined;
  try {
    let again: Timer | undefined;
    const handle: FSWatcher = watch(path, { persistent: false }, () => {
      ring();
      clearTimeout(again);
      again = setTimeout(ring, soonMs);
    });
    const renewed = {
      identity,
      close() {
        clearTimeout(again);
        handle.close();
      },
    };
    handle.on("error", () => {
      renewed.identity = "";
      ring();
    });
    return renewed;
  } catch {
    // No inotify, or no watch left: the sweep does the work.
    return undefined;
  }
}

/** Undefined: there is no directory, or none that can be reached now. */
function identityOf(path: string): string | undefined {
  try {
    const stats = lstatSync(path);
    return stats.isDirectory() ? `${stats.dev}:${stats.ino}` : undefined;
  } catch {
    return undefined;
  }
}

export interface Bell extends Disposable {
  ring: () => void;
  /** Resolves at the next ring, at once if there was one since the last wait, or after `ms`. */
  wait: (ms: number) => Promise<void>;
}

/** A level-triggered wake-up: a ring without a waiter is not lost. */
export function createBell(signal: AbortSignal, timers: Pick<Timers, "after"> = systemTimers): Bell {
  let rung = false;
  let wake = () => {};
  const ring = () => {
    rung = true;
    wake();
  };
  signal.addEventListener("abort", ring, { once: true });
  return {
    ring,
    [Symbol.dispose]: () => signal.removeEventListener("abort", ring),
    async wait(ms) {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = timers.after(ms, resolve);
          wake = () => {
            timer.cancel();
            resolve();
          };
        });
      }
      rung = false;
    },
  };
}
