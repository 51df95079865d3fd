/**
 * The streams of a program without a terminal. It runs in a tmux window like every agent, so that it outlives the
 * daemon; its input is a FIFO that is held open there, its output a file.
 */
import { closeSync, constants, existsSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Endpoint } from "../../model/agent.ts";
import type { Timers } from "../../os/timers.ts";
import { endpointKind } from "./endpointKind.ts";

export interface Streams {
  readonly input: string;
  readonly output: string;
}

export const streamsDirectory = (home: string): string => join(home, "headless");

export const streamsIn = (home: string, name: string): Streams => {
  const stream = join(streamsDirectory(home), name);
  return { input: `${stream}.in`, output: `${stream}.out` };
};

/** Above this, what was read of an output is cut off. */
export const outputLimit = 4 << 20;

/** What is left of an output after its first `before` bytes were cut off: `x.out`, then `x+4096.out`. */
export interface OutputPart {
  /** The output, by the name of its first part. */
  readonly stream: string;
  readonly before: number;
}

export function partOf(output: string): OutputPart {
  const [, name = "", before = ""] = /^(.*)\+(\d+)\.out$/.exec(output) ?? [];
  return before === "" ? { stream: output, before: 0 } : { stream: `${name}.out`, before: Number(before) };
}

/** For the writer of an output: up to where it was read, in bytes. */
export const readMarkOf = (stream: string): string => `${stream}.read`;

/** For a program that reads text on its standard input. */
export const stdinKind = endpointKind("stdin", { input: z.string() });
export const stdinEndpoint = ({ input }: Streams): Endpoint => stdinKind.make({ input });

/** A FIFO can be opened for writing only while it is read; null: it is not. */
export function openInput(path: string): number | null {
  try {
    return existsSync(path) ? openSync(path, constants.O_WRONLY | constants.O_NONBLOCK) : null;
  } catch (thrown) {
    if (["ENXIO", "ENOENT"].includes((thrown as NodeJS.ErrnoException).code ?? "")) return null;
    throw thrown;
  }
}

export function hasReader(path: string): boolean {
  const fd = openInput(path);
  if (fd === null) return false;
  closeSync(fd);
  return true;
}

/** What a FIFO takes as a whole or not at all. */
export const atomicBytes = 4_096;

export interface WriteLimits {
  readonly timers: Pick<Timers, "pause">;
  /** Gives up when it aborts; without it a line that was begun is finished, however long that takes. */
  readonly signal?: AbortSignal;
}

/** A FIFO holds 64 KiB; the rest goes in as the program reads. Returns how many bytes went in. */
export async function writeInput(fd: number, bytes: Uint8Array, { timers, signal }: WriteLimits): Promise<number> {
  let written = 0;
  while (written < bytes.length && !signal?.aborted) {
    try {
      written += writeSync(fd, bytes, written, Math.min(bytes.length - written, atomicBytes));
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== "EAGAIN") throw thrown;
      await timers.pause(2);
    }
  }
  return written;
}
