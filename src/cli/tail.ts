import { closeSync, fstatSync, openSync, readSync, statSync, watch } from "node:fs";
import { basename, dirname } from "node:path";
import type { Terminal } from "./terminal.ts";

export interface TailOptions {
  readonly lines: number;
  readonly follow: boolean;
}

/** The last lines of a log, and what is added to it, also when it moves aside and a new one takes its place. */
export async function printLog(path: string, terminal: Terminal, { lines, follow }: TailOptions): Promise<number> {
  const log = followFile(path);
  const last = log.rest().split("\n").slice(-lines - 1).join("\n");
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
  const decoder = new TextDecoder();
  let fd: number | null = null;

  function open(): void {
    fd = statSync(path, { throwIfNoEntry: false }) ? openSync(path, "r") : null;
  }

  function close(): void {
    if (fd !== null) closeSync(fd);
    fd = null;
  }

  function movedAside(): boolean {
    const now = statSync(path, { throwIfNoEntry: false });
    return fd !== null && now !== undefined && now.ino !== fstatSync(fd).ino;
  }

  function remaining(): string {
    if (fd === null) return "";
    const buffer = Buffer.alloc(64 * 1024);
    let text = "";
    for (let bytes = readSync(fd, buffer); bytes > 0; bytes = readSync(fd, buffer)) {
      text += decoder.decode(buffer.subarray(0, bytes), { stream: true });
    }
    return text;
  }

  return {
    close,
    rest() {
      if (fd === null) open();
      let text = remaining();
      while (movedAside()) {
        close();
        open();
        text += remaining();
      }
      return text;
    },
  };
}

/** Watches the directory, because a watch on the file would stay with the old one. Ends on Ctrl-C. */
async function* changesOf(path: string): AsyncGenerator<void> {
  let wake = Promise.withResolvers<boolean>();
  const watcher = watch(dirname(path), (_event, name) => {
    if (name === null || name.startsWith(basename(path))) wake.resolve(true);
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => wake.resolve(false));
  // What was written between the first look and the watch would otherwise wait for the next line.
  wake.resolve(true);
  while (await wake.promise) {
    wake = Promise.withResolvers<boolean>();
    yield;
  }
  watcher.close();
}
