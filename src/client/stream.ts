import { TielineError } from "../model/errors.ts";
import type { Event, EventFilter } from "../model/event.ts";
import { fromProblem, lineTo, unavailable, type DaemonAddress } from "./client.ts";
import { pathOf } from "../api/wire.ts";
import type { Caller } from "../api/schema.ts";
import { systemTimers } from "../os/timers.ts";

export type StreamedEvent = Event;

export interface StreamOptions extends EventFilter {
  /** Everything after this number; left out: what happens from now on. */
  readonly after?: number;
  /** Told each time that the connection is made or lost, and why it is lost if that is known. */
  readonly onConnection?: (connected: boolean, problem?: TielineError) => void;
}

const firstPauseMs = 100;
const longestPauseMs = 2_000;

/**
 * The events of a daemon, each once and in order, until the signal is aborted. A connection that breaks is made again
 * and continues after the last event; only a daemon that was never there, or that refuses, is an error.
 */
export async function* streamEvents(
  daemon: DaemonAddress,
  caller: Caller,
  options: StreamOptions = {},
  signal?: AbortSignal,
): AsyncGenerator<StreamedEvent, void, void> {
  let after = options.after;
  let pauseMs = firstPauseMs;
  let connected = false;
  while (!signal?.aborted) {
    let problem: TielineError | undefined;
    try {
      const body = await open(daemon, caller, { ...options, ...(after !== undefined && { after }) }, signal);
      connected = true;
      options.onConnection?.(true);
      for await (const { id, data } of blocks(body)) {
        pauseMs = firstPauseMs;
        if (id !== null) after = id;
        if (data !== "") yield JSON.parse(data) as StreamedEvent;
      }
    } catch (thrown) {
      if (signal?.aborted) return;
      if (!connected || !isBroken(thrown)) throw thrown;
      if (thrown instanceof TielineError) problem = thrown;
    }
    options.onConnection?.(false, problem);
    await systemTimers.pause(pauseMs, signal);
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
}

async function open(
  daemon: DaemonAddress,
  caller: Caller,
  { after, agent, team, types }: StreamOptions,
  signal: AbortSignal | undefined,
): Promise<ReadableStream<Uint8Array>> {
  const { base, headers, unix, send } = lineTo(daemon, caller);
  const query = new URLSearchParams();
  if (agent !== undefined) query.set("agent", agent);
  if (team !== undefined) query.set("team", team);
  if (types !== undefined) query.set("types", types.join(","));
  const request: RequestInit & { unix?: string } = {
    headers: {
      ...headers,
      accept: "text/event-stream",
      ...(after !== undefined && { "last-event-id": String(after) }),
    },
    ...(signal && { signal }),
    ...unix,
  };
  const response = await send(`${base}${pathOf("events")}?${query}`, request).catch(unavailable);
  if (response.ok && response.body) return response.body as ReadableStream<Uint8Array>;
  throw fromProblem(await response.json().catch(unavailable));
}

export interface StreamBlock {
  readonly event: string;
  readonly id: number | null;
  readonly data: string;
}

/** The fields of a text/event-stream that we use; comments keep the connection alive and say nothing. */
export async function* blocks(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamBlock, void, void> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of chunksOf(body)) {
    const parts = (text + decoder.decode(chunk, { stream: true })).split("\n\n");
    text = parts.pop()!;
    yield* parts.map(blockOf);
  }
}

/** By a reader, since not every browser can walk a stream by itself. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  const reader = body.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
  } finally {
    await reader.cancel();
  }
}

function blockOf(text: string): StreamBlock {
  let event = "message";
  let id: number | null = null;
  let data = "";
  for (const line of text.split("\n")) {
    if (line.startsWith("id: ")) id = Number(line.slice(4));
    if (line.startsWith("event: ")) event = line.slice(7);
    if (line.startsWith("data: ")) data += line.slice(6);
  }
  return { event, id, data };
}

/** The daemon went away, or left us behind; both end the connection and neither ends the stream. */
const isBroken = (thrown: unknown): boolean =>
  !(thrown instanceof TielineError) || thrown.code === "DAEMON_UNAVAILABLE";
