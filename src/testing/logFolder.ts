/** A folder of log files, and tails whose clock the test sets. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LoggedMessage, LogPosition } from "../intake/logs/fileTail.ts";
import { tailLogs, type TailOptions } from "../intake/logs/tail.ts";
import { Conditions } from "./conditions.ts";

export const block = (to: string, text: string) => `<<SWARM_MSG:TO=${to}:START>>${text}<<SWARM_MSG:END>>`;

export interface LogFolder {
  readonly root: string;
  /** What the tails have stored about each file. */
  readonly store: Map<string, LogPosition>;
  /** A tail whose clock stops, so that a file becomes quiet only when the test moves the clock. */
  readonly start: (options?: Partial<TailOptions>) => LogTail;
  readonly remove: () => void;
}

type LogTail = ReturnType<typeof startTail>;

export function openLogFolder(): LogFolder {
  const root = mkdtempSync(join(tmpdir(), "logs-"));
  const store = new Map<string, LogPosition>();
  return {
    root,
    store,
    start: (options) => startTail(root, store, options),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

function startTail(root: string, store: Map<string, LogPosition>, options: Partial<TailOptions> = {}) {
  const controller = new AbortController();
  const messages: LoggedMessage[] = [];
  const rejected: string[] = [];
  const { changed, until } = new Conditions();
  const clock = { nowMs: 0 };
  let saves = 0;
  const accept = options.onMessage ?? (async () => {});
  const done = tailLogs({
    root,
    pattern: "*.txt",
    signal: controller.signal,
    rescanMs: 20,
    clock: () => clock.nowMs,
    onRejected: ({ reason }) => rejected.push(reason),
    ...options,
    offsets: {
      get: (path) => store.get(path),
      set(path, position) {
        saves++;
        store.set(path, position);
        changed();
      },
    },
    async onMessage(found) {
      await accept(found);
      messages.push(found);
      changed();
    },
  });
  return {
    messages,
    rejected,
    clock,
    saves: () => saves,
    contents: () => messages.map(({ to, content }) => `${to}: ${content}`),
    until,
    async stop() {
      controller.abort();
      await done;
    },
  };
}
