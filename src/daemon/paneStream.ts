/** The live picture of an agent's pane, as text/event-stream. */
import type { Directory } from "../agents/directory/directory.ts";
import type { TmuxServers } from "../agents/layout/servers.ts";
import type { ProbingTransport } from "../delivery/transports/port.ts";
import { asTielineError, TielineError } from "../model/errors.ts";
import { capture, snapshotPane } from "../tmux/pane.ts";
import { paneOf, programCalled, type Resolving } from "../api/addressed.ts";
import type { Callers } from "../api/callers.ts";
import type { HttpAnswer } from "./http.ts";
import type { Timers } from "../os/timers.ts";

/** What changed on a screen since the last frame; the first one has every row, and what scrolled out above. */
export interface PaneFrame {
  readonly cols: number;
  readonly rows: number;
  readonly cursor: { readonly x: number; readonly y: number };
  readonly changed: readonly (readonly [row: number, text: string])[];
  readonly history?: readonly string[];
  /** With `history`: how many lines tmux has above the screen. */
  readonly historySize?: number;
}

/** Why no more frames come, for people; sent as the event `over`. */
export interface PaneEnd {
  readonly message: string;
  readonly remedy: string;
}

export interface PaneStreamParts extends Resolving {
  readonly callers: Callers;
  readonly directory: Directory;
  readonly servers: TmuxServers;
  readonly tmux: Pick<ProbingTransport, "watch">;
  readonly timers: Pick<Timers, "after">;
}

const historyLines = 500;
/** What a page may ask for at once, when its user scrolls up. */
const mostHistoryLines = 10_000;
const heartbeatMs = 15_000;

/**
 * Rows instead of the program's own bytes: a picture read from tmux is right from its first frame on, whatever was
 * printed before the stream started, and a reader that falls behind skips frames instead of bytes.
 */
export function paneStreams(parts: PaneStreamParts): HttpAnswer {
  const { callers, servers, tmux, timers } = parts;
  return async (request, { caller, signal }) => {
    const from = await callers.user(caller);
    const { searchParams } = new URL(request.url);
    const address = searchParams.get("agent") ?? "";
    const wantedHistory = historyIn(searchParams.get("history"));
    const agent = programCalled(address, from, parts);
    const { endpoint, locator } = paneOf(agent);
    const { socket, pane } = locator;
    const server = servers.at(socket);
    const encoder = new TextEncoder();
    const say = (controller: ReadableStreamDefaultController<Uint8Array>, text: string): void =>
      controller.enqueue(encoder.encode(`${text}\n\n`));
    const over = new AbortController();
    const ended = AbortSignal.any([signal, over.signal]);
    let news = Promise.withResolvers<void>();
    const watch = tmux.watch(agent, endpoint, () => news.resolve());
    ended.addEventListener("abort", () => {
      watch[Symbol.dispose]();
      news.resolve();
    });
    let shown: readonly string[] | null = null;
    let shownFacts = "";

    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          while (!ended.aborted) {
            const frame = await nextFrame().catch(asTielineError);
            if (frame instanceof TielineError) {
              say(controller, `event: over\ndata: ${JSON.stringify(endOf(agent.name, frame))}`);
              break;
            }
            if (frame !== "same") return say(controller, `data: ${JSON.stringify(frame)}`);
            if (!(await happens())) return say(controller, ": still here");
          }
          over.abort();
          controller.close();
        },
        cancel: () => over.abort(),
      },
      { highWaterMark: 1 },
    );
    return new Response(body, { headers: { "content-type": "text/event-stream", "cache-control": "no-store" } });

    async function nextFrame(): Promise<PaneFrame | "same"> {
      news = Promise.withResolvers<void>();
      const { pane: facts, styled } = await snapshotPane(server, pane);
      const rows = selfContained(styled);
      const { width: cols, height, cursor } = facts;
      const said = JSON.stringify([cols, height, cursor]);
      const before = shown;
      const changed = rows.flatMap((text, row) => (before?.[row] === text ? [] : [[row, text] as const]));
      if (changed.length === 0 && said === shownFacts) return "same";
      [shown, shownFacts] = [rows, said];
      const history =
        before === null ? { history: await above(facts.historySize), historySize: facts.historySize } : {};
      return { cols, rows: height, cursor, changed, ...history };
    }

    async function above(size: number): Promise<string[]> {
      const lines = Math.min(size, wantedHistory);
      return lines === 0
        ? []
        : selfContained(await capture(server, pane, { ansi: true, history: lines })).slice(0, lines);
    }

    /** False: nothing did for a while. */
    async function happens(): Promise<boolean> {
      const quiet = Promise.withResolvers<boolean>();
      const timer = timers.after(heartbeatMs, () => quiet.resolve(false));
      return Promise.race([news.promise.then(() => true), quiet.promise]).finally(() => timer.cancel());
    }
  };
}

function historyIn(text: string | null): number {
  if (text === null) return historyLines;
  if (/^\d{1,5}$/.test(text)) return Math.min(Number(text), mostHistoryLines);
  throw new TielineError("USAGE", `history: ${JSON.stringify(text.slice(0, 20))} is not a number of lines`, {
    remedy: `give a number up to ${mostHistoryLines}`,
    operands: { history: text.slice(0, 20) },
  });
}

const endOf = (agent: string, { message, remedy }: TielineError): PaneEnd => ({
  message: `the pane of ${agent} can no longer be read: ${message}`,
  remedy,
});

/** tmux lets a style run on into the next row; here each row says its own. */
export function selfContained(rows: readonly string[]): string[] {
  let open = "";
  return rows.map((row) => {
    const text = `${open}${row}`;
    for (const [sequence, parameters] of row.matchAll(/\x1b\[([0-9;:]*)m/g))
      open = /^0?$/.test(parameters!) ? "" : open + sequence;
    return text;
  });
}
