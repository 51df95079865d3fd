/** The rows of a pane as they change, over a connection that is made again when it breaks. */
import { blocks } from "../../src/client/stream.ts";
import { systemTimers } from "../../src/os/timers.ts";
import { fromProblem, unavailable, type Fetch } from "../../src/client/client.ts";
import { TielineError } from "../../src/model/errors.ts";
import type { PaneEnd, PaneFrame } from "../../src/daemon/paneStream.ts";

export interface PaneWatch {
  readonly send: Fetch;
  readonly address: string;
  /** How many lines above the screen come with the first frame. */
  readonly history: number;
  readonly signal: AbortSignal;
  readonly onFrame: (frame: PaneFrame) => void;
  /** The connection broke and is made again. */
  readonly onBreak: () => void;
}

const pauseMs = 1_000;

/** Resolves when no more frames will come, with the reason; null: the signal was aborted. */
export async function watchPane({
  send,
  address,
  history,
  signal,
  onFrame,
  onBreak,
}: PaneWatch): Promise<PaneEnd | null> {
  const path = `/v1/pane?${new URLSearchParams({ agent: address, history: String(history) })}`;
  while (!signal.aborted) {
    try {
      const response = await send(path, { headers: { accept: "text/event-stream" }, signal }).catch(unavailable);
      if (!response.ok || response.body === null) throw fromProblem(await response.json().catch(unavailable));
      for await (const { event, data } of blocks(response.body as ReadableStream<Uint8Array>)) {
        if (event === "over") return JSON.parse(data) as PaneEnd;
        if (data !== "") onFrame(JSON.parse(data) as PaneFrame);
      }
    } catch (thrown) {
      if (signal.aborted) return null;
      if (thrown instanceof TielineError && thrown.code !== "DAEMON_UNAVAILABLE")
        return { message: thrown.message, remedy: thrown.remedy };
    }
    onBreak();
    await systemTimers.pause(pauseMs, signal);
  }
  return null;
}
