/** The live face of the events: text/event-stream, from any number on. */
import type { Spine } from "../events/spine.ts";
import type { Event } from "../model/event.ts";
import { systemTimers, type Scheduled, type Timers } from "../os/timers.ts";

export interface StreamTimes {
  /** A comment this often, so that a dead connection is noticed. */
  readonly heartbeatMs?: number;
  /** A reader that takes nothing for this long is cut off; it can come back with the last number it has. */
  readonly patienceMs?: number;
  /** Called once, when the reader is gone. */
  readonly onEnd?: () => void;
  readonly timers?: Timers;
}

const pageSize = 256;

/**
 * Nothing is kept for a reader but its number: each time that it can take more, the next page is read from the spine.
 * The past and what happens meanwhile are one sequence, and a slow reader costs no memory.
 */
export function eventStream(
  events: Pick<Spine, "after" | "onEvent">,
  from: number,
  isWanted: (event: Event) => boolean,
  signal: AbortSignal,
  times: StreamTimes = {},
): Response {
  const { heartbeatMs = 15_000, patienceMs = 60_000, timers = systemTimers } = times;
  const encoder = new TextEncoder();
  const over = new AbortController();
  const ended = AbortSignal.any([signal, over.signal]);
  ended.addEventListener("abort", () => times.onEnd?.(), { once: true });
  let last = from;
  let patience: Scheduled | undefined;

  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(encoder.encode(": events follow\n\n"));
      },
      async pull(controller) {
        patience?.cancel();
        const text = await next();
        if (text === null) return close(controller);
        controller.enqueue(encoder.encode(text));
        patience = timers.after(patienceMs, () => cutOff(controller));
      },
      cancel() {
        patience?.cancel();
        over.abort();
      },
    },
    { highWaterMark: 1 },
  );
  return new Response(body, { headers: { "content-type": "text/event-stream", "cache-control": "no-store" } });

  /** What to say next: events, or a heartbeat when there were none; null at the end. */
  async function next(): Promise<string | null> {
    while (!ended.aborted) {
      const page = events.after(last, pageSize);
      if (page.length === 0) {
        if (!(await happens())) return ended.aborted ? null : `: still here\nid: ${last}\n\n`;
        continue;
      }
      last = page.at(-1)!.seq;
      const wanted = page.filter(isWanted);
      if (wanted.length > 0) return wanted.map(block).join("");
      await timers.nextTurn();
    }
    return null;
  }

  /** Resolves at the next event, or without one after a while or at the end. */
  function happens(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const stop = events.onEvent(() => resolve(true));
    const timer = timers.after(heartbeatMs, () => resolve(false));
    const end = (): void => resolve(false);
    ended.addEventListener("abort", end, { once: true });
    return promise.finally(() => {
      stop();
      timer.cancel();
      ended.removeEventListener("abort", end);
    });
  }

  function close(controller: ReadableStreamDefaultController<Uint8Array>): void {
    if (over.signal.aborted) return;
    over.abort();
    patience?.cancel();
    controller.close();
  }

  /** An error, unlike an end, does not wait for what the reader has not taken. */
  function cutOff(controller: ReadableStreamDefaultController<Uint8Array>): void {
    over.abort();
    controller.error(new Error("the reader is too slow"));
  }
}

const block = (event: Event): string => `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`;
