import { TielineError } from "../../../model/errors.ts";
import type { Timers } from "../../../os/timers.ts";
import type { ConversationEntry } from "../../../providers/opencode/conversation.ts";
import type { OpencodeEvent, OpencodeServer } from "../../../providers/opencode/server.ts";

/** What becomes of a prompt. */
export type OpencodeFault = "accepts and forgets" | "accepts and breaks off" | "refuses";

export interface SimulatedOpencodeParts {
  readonly timers: Timers;
  readonly give: (text: string) => void;
  readonly answerMs?: number;
  readonly fault?: () => OpencodeFault | null;
}

interface Prompt {
  readonly parts: readonly { readonly id: string; readonly type: string; readonly text: string }[];
}

const sessionID = "ses_1";

/** An opencode with one conversation, as its clients see it. The model answers everything it is given. */
export class SimulatedOpencode {
  #lives = true;
  readonly #entries: ConversationEntry[] = [];
  readonly #streams = new Set<EventQueue>();

  constructor(private readonly parts: SimulatedOpencodeParts) {}

  end(): void {
    this.#lives = false;
    for (const stream of this.#streams) stream.end();
  }

  readonly connect = (): OpencodeServer => ({
    request: async <Result>(
      method: string,
      path: string,
      { body, signal }: { readonly body?: unknown; readonly signal?: AbortSignal } = {},
    ) => {
      if (!signal?.aborted) await this.parts.timers.pause(this.parts.answerMs ?? 1, signal);
      if (!this.#lives || signal?.aborted) throw problem(path, false);
      return this.#answer(`${method} ${path.replace(/\?.*/, "")}`, body) as Result;
    },
    events: (signal) => this.#events(signal),
  });

  async *#events(signal: AbortSignal): AsyncGenerator<OpencodeEvent> {
    if (!this.#lives) throw problem("/event", false);
    const queue = new EventQueue();
    this.#streams.add(queue);
    signal.addEventListener("abort", () => queue.end(), { once: true });
    queue.push({ type: "server.connected", properties: {} });
    try {
      for (let event = await queue.next(); event !== null; event = await queue.next()) yield event;
    } finally {
      this.#streams.delete(queue);
    }
  }

  #answer(call: string, body: unknown): unknown {
    switch (call) {
      case "GET /session/status":
        return {};
      case "GET /permission":
      case "GET /question":
        return [];
      case "POST /session":
      case `GET /session/${sessionID}`:
        return { id: sessionID };
      case `GET /session/${sessionID}/message`:
        return [...this.#entries];
      case "POST /tui/select-session":
        return true;
      case `POST /session/${sessionID}/prompt_async`:
        return this.#prompt(body as Prompt);
      default:
        throw problem(call, true);
    }
  }

  #prompt(prompt: Prompt): null {
    const happens = this.parts.fault?.() ?? null;
    if (happens === "refuses") throw problem("prompt_async", true);
    if (happens !== "accepts and forgets") this.parts.timers.after(this.parts.answerMs ?? 1, () => this.#run(prompt));
    if (happens === "accepts and breaks off") throw problem("prompt_async", false);
    return null;
  }

  #run({ parts }: Prompt): void {
    if (!this.#lives) return;
    this.#entry("user", [...parts]);
    this.#tell("message.updated", { sessionID, info: { role: "user" } });
    this.#tell("session.status", { sessionID, status: { type: "busy" } });
    for (const { text } of parts) this.parts.give(text);
    const part = { id: `prt_${this.#entries.length}`, type: "step-start" };
    this.#entry("assistant", [part]);
    this.#tell("message.part.updated", { sessionID, part });
    this.#tell("session.status", { sessionID, status: { type: "idle" } });
  }

  #entry(role: string, parts: object[]): void {
    this.#entries.push({ info: { id: `msg_${this.#entries.length}`, role }, parts } as unknown as ConversationEntry);
  }

  #tell(type: string, properties: OpencodeEvent["properties"]): void {
    for (const stream of this.#streams) stream.push({ type, properties });
  }
}

/** Events until the end; null then. */
class EventQueue {
  readonly #events: OpencodeEvent[] = [];
  #ended = false;
  #wake: () => void = () => undefined;

  push(event: OpencodeEvent): void {
    this.#events.push(event);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async next(): Promise<OpencodeEvent | null> {
    while (this.#events.length === 0 && !this.#ended) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.#events.shift() ?? null;
  }
}

const problem = (path: string, refused: boolean): TielineError =>
  new TielineError("DELIVERY_FAILED", `the simulated opencode does not take ${path}`, {
    remedy: "`tieline ls` shows whether the agent still runs",
    operands: { path, refused },
  });
