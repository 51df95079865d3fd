import { dirname } from "node:path";
import { TielineError } from "../../../model/errors.ts";
import type { Timers } from "../../../os/timers.ts";
import type { AppServer, AppServerNotification } from "../../../providers/codex/appServer.ts";
import type { ThreadStatus } from "../../../providers/codex/threads.ts";
import type { MemoryFiles } from "./memoryFiles.ts";

/** What becomes of a turn that is asked for. */
export type AppServerFault = "accepts and forgets" | "accepts and breaks off" | "refuses";

export interface SimulatedAppServerParts {
  readonly timers: Timers;
  readonly files: MemoryFiles;
  /** Where the thread is written down. */
  readonly rollout: string;
  readonly give: (text: string) => void;
  readonly answerMs?: number;
  readonly fault?: () => AppServerFault | null;
}

interface TurnParams {
  readonly clientUserMessageId?: string;
  readonly input?: readonly { readonly text: string }[];
}

/** A Codex app server with one thread, as its clients see it. The model answers everything it is given. */
export class SimulatedAppServer {
  readonly threadId = "01a1dea3-0d87-7f31-a341-1fd2acea66a4";
  #lives = true;
  #status: ThreadStatus = { type: "idle" };
  readonly #connections = new Set<{ listeners: Set<(told: AppServerNotification) => void>; end(): void }>();

  constructor(private readonly parts: SimulatedAppServerParts) {}

  end(): void {
    this.#lives = false;
    for (const connection of [...this.#connections]) connection.end();
  }

  readonly connect = async (): Promise<AppServer> => {
    const { timers, answerMs = 1 } = this.parts;
    await timers.pause(answerMs);
    if (!this.#lives) throw lost("connect");
    const closed = Promise.withResolvers<void>();
    const listeners = new Set<(told: AppServerNotification) => void>();
    const connection = {
      listeners,
      end: (): void => {
        this.#connections.delete(connection);
        closed.resolve();
      },
    };
    this.#connections.add(connection);
    const close = async (): Promise<void> => connection.end();
    return {
      closed: closed.promise,
      listen(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      request: async <Result>(method: string, params: unknown, signal?: AbortSignal) => {
        signal?.throwIfAborted();
        await timers.pause(answerMs, signal);
        signal?.throwIfAborted();
        if (!this.#connections.has(connection)) throw lost(method);
        return this.#answer(method, params as TurnParams) as Result;
      },
      close,
      [Symbol.asyncDispose]: close,
    };
  };

  #answer(method: string, params: TurnParams): unknown {
    const { rollout } = this.parts;
    if (method === "thread/loaded/list") return { data: [this.threadId] };
    if (method === "thread/read")
      return {
        thread: {
          ...{ id: this.threadId, status: this.#status, path: rollout, cwd: "/" },
          ...{ ephemeral: false, parentThreadId: null },
        },
      };
    if (method === "turn/start") return this.#turn(params);
    throw refused(method);
  }

  #turn(params: TurnParams): object {
    const happens = this.parts.fault?.() ?? null;
    if (happens === "refuses") throw refused("turn/start");
    if (happens !== "accepts and forgets") this.parts.timers.after(this.parts.answerMs ?? 1, () => this.#run(params));
    if (happens === "accepts and breaks off") throw lost("turn/start");
    return { turn: { id: "turn-1", status: "inProgress" } };
  }

  #run({ clientUserMessageId, input = [] }: TurnParams): void {
    if (!this.#lives) return;
    this.#become({ type: "active", activeFlags: [] });
    const content = input.map(({ text }) => ({ type: "input_text", text }));
    this.#record("response_item", { type: "message", role: "user", content });
    this.#record("event_msg", {
      type: "item_completed",
      item: { type: "UserMessage", client_id: clientUserMessageId },
    });
    for (const { text } of input) this.parts.give(text);
    this.#record("response_item", { type: "message", role: "assistant", content: [] });
    this.parts.files.ring(dirname(this.parts.rollout));
    this.#become({ type: "idle" });
  }

  #become(status: ThreadStatus): void {
    this.#status = status;
    const told = { method: "thread/status/changed", params: { threadId: this.threadId, status } };
    for (const { listeners } of this.#connections) for (const listener of [...listeners]) listener(told);
  }

  #record(type: string, payload: object): void {
    this.parts.files.append(this.parts.rollout, `${JSON.stringify({ type, payload })}\n`);
  }
}

const lost = (method: string): TielineError =>
  new TielineError("DELIVERY_FAILED", `the Codex app server does not answer (${method})`, {
    remedy: "`tieline ls` shows whether the agent still runs",
    operands: { method, refused: false },
  });

const refused = (method: string): TielineError =>
  new TielineError("DELIVERY_FAILED", `Codex refused ${method}`, {
    remedy: "`tieline show` on the message has the details",
    operands: { method, refused: true },
  });
