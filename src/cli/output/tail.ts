import { closeSync, fstatSync, openSync, readSync, statSync, watch } from "node:fs";
import { basename, dirname } from "node:path";
import type { Terminal } from "./terminal.ts";
import { systemTimers, type Scheduled } from "../../os/timers.ts";

export interface PrintedTailOptions {
  readonly lines: number;
  readonly follow: boolean;
}

/** The last lines of a log, and what is added to it, also when its content moves aside. */
export async function printLog(
  path: string,
  terminal: Terminal,
  { lines, follow }: PrintedTailOptions,
): Promise<number> {
  const log = followFile(path);
  const last = log
    .rest()
    .split("\n")
    .slice(-lines - 1)
    .join("\n");
  await terminal.text(last);
  if (!follow) {
    log.close();
    if (last === "") await terminal.complain(`no log yet at ${path}`);
    return 0;
  }
  for await (const _change of changesOf(path)) await terminal.text(log.rest());
  log.close();
  return 0;
}

interface Followed {
  /** What was added since the last call, in the old file first when there is a new one. */
  rest(): string;
  close(): void;
}

function followFile(path: string): Followed {
  let decoder = new TextDecoder();
  let fd: number | null = null;
  let position = 0;

  function open(): void {
    fd = statSync(path, { throwIfNoEntry: false }) ? openSync(path, "r") : null;
    position = 0;
  }

  function close(): void {
    if (fd !== null) closeSync(fd);
    fd = null;
  }

  function movedAside(): boolean {
    const now = statSync(path, { throwIfNoEntry: false });
    return fd !== null && now !== undefined && now.ino !== fstatSync(fd).ino;
  }

  const wasEmptied = (): boolean => fd !== null && fstatSync(fd).size < position;

  function remaining(file = fd): string {
    if (file === null) return "";
    const buffer = Buffer.alloc(64 * 1024);
    let text = "";
    for (
      let bytes = readSync(file, buffer, 0, buffer.length, position);
      bytes > 0;
      bytes = readSync(file, buffer, 0, buffer.length, position)
    ) {
      position += bytes;
      text += decoder.decode(buffer.subarray(0, bytes), { stream: true });
    }
    return text;
  }

  /** The daemon copies its log before it empties it, so that the rest is where we stopped, in the copy. */
  function restOfCopy(): string {
    const copy = `${path}.1`;
    if (!statSync(copy, { throwIfNoEntry: false })) return "";
    const file = openSync(copy, "r");
    try {
      return remaining(file);
    } finally {
      closeSync(file);
    }
  }

  return {
    close,
    rest() {
      if (fd === null) open();
      let text = "";
      if (wasEmptied()) {
        text += restOfCopy();
        position = 0;
        decoder = new TextDecoder();
      }
      text += remaining();
      while (movedAside()) {
        close();
        open();
        text += remaining();
      }
      return text;
    },
  };
}

/** Bun reports only the first of several changes within a millisecond, so the rest is looked for soon after. */
const soonMs = 5;

/** Watches the directory, because a watch on the file would stay with the old one. Ends on Ctrl-C. */
async function* changesOf(path: string): AsyncGenerator<void> {
  let wake = Promise.withResolvers<boolean>();
  let again: Scheduled | undefined;
  const watcher = watch(dirname(path), (_event, name) => {
    if (name !== null && !name.startsWith(basename(path))) return;
    wake.resolve(true);
    again?.cancel();
    again = systemTimers.after(soonMs, () => wake.resolve(true));
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => wake.resolve(false));
  // What was written between the first look and the watch would otherwise wait for the next line.
  wake.resolve(true);
  while (await wake.promise) {
    wake = Promise.withResolvers<boolean>();
    yield;
  }
  again?.cancel();
  watcher.close();
}
