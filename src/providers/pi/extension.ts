/**
 * Runs inside of pi, as an extension that Tieline gives to the agents that it starts. It listens on a socket of its own
 * and puts what comes there into the conversation; it tells what pi does and which messages its model has read. It has
 * to be one file without imports but node's own, because it is copied out of here.
 *
 * Messages go in as custom ones, not as the user's: what pi has queued of those it moves into the user's composer when
 * a turn is interrupted.
 */
import { rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { fileURLToPath } from "node:url";

export type PiProgress =
  /** The conversation does not hold it, or has dropped it unread. */
  | "absent"
  /** Queued behind what runs. */
  | "waiting"
  /** A request holds it; the model has not begun to answer. */
  | "asked"
  | "read";

export type PiCall =
  | {
      readonly call: number;
      readonly deliver: {
        readonly id: string;
        readonly tag: string;
        readonly text: string;
        readonly urgent: boolean;
        readonly hard: boolean;
      };
    }
  | { readonly call: number; readonly find: string };

export interface PiFinding {
  readonly progress: PiProgress;
  /** Tools that were blocked by it. */
  readonly stopped: readonly string[];
  /** Why the model did not answer, once pi has given up. */
  readonly failure?: string;
}

export type PiFrame =
  | { readonly answer: number; readonly finding: PiFinding }
  | { readonly state: { readonly session: string; readonly working: boolean } };

interface PiMessage {
  readonly role?: string;
  readonly customType?: string;
  readonly details?: { readonly id?: string };
  readonly stopReason?: string;
  readonly errorMessage?: string;
}

interface PiContext {
  isIdle(): boolean;
  abort(): void;
  readonly sessionManager: {
    getSessionId(): string;
    getBranch(): readonly {
      readonly type: string;
      readonly customType?: string;
      readonly details?: { readonly id?: string };
      readonly message?: PiMessage;
    }[];
  };
}

interface Pi {
  on(
    event: string,
    handler: (event: { messages?: PiMessage[]; message?: PiMessage; toolName?: string }, context: PiContext) => unknown,
  ): void;
  sendMessage(message: object, options: object): void;
}

const customType = "tieline";
const unbegunMs = 2_000;
/** pi tries again some seconds after an error, by itself; one that rests for longer has given up. */
const givenUpMs = 10_000;

/** What is behind the socket's path in the path of the copy, by which the copy knows it. */
const besideSocket = ".pi.ts";

export default function tieline(pi: Pi): void {
  listenAt(fileURLToPath(import.meta.url).slice(0, -besideSocket.length), pi);
}

export function listenAt(path: string, pi: Pi): void {
  const progresses = new Map<string, PiProgress>();
  const stopped = new Map<string, string[]>();
  const urgent = new Map<string, string>();
  const clients = new Set<Socket>();
  let server: Server | null = null;
  let context: PiContext | null = null;
  let working = false;
  let failure: string | undefined;

  pi.on("session_start", (_event, current) => {
    context = current;
    rmSync(path, { force: true });
    // Without a socket the pane has to do, as Tieline finds; here there is only pi's own screen to write on.
    server = createServer(attend).on("error", () => undefined);
    server.listen(path);
  });
  pi.on("session_shutdown", () => {
    // A call on a conversation that was left would end pi.
    context = null;
    server?.close();
    for (const client of clients) client.destroy();
  });
  pi.on("agent_start", () => move(() => ([working, failure] = [true, undefined])));
  pi.on("agent_end", () => whenIdle(() => move(endTurn)));
  pi.on("tool_call", ({ toolName = "" }) => {
    const tags = [...urgent.values()];
    if (tags.length === 0) return undefined;
    for (const id of urgent.keys()) stopped.set(id, [...(stopped.get(id) ?? []), toolName]);
    return { block: true, reason: `not run, because an urgent message came first: read ${tags.join(", ")} below` };
  });
  pi.on("context", ({ messages = [] }) => {
    for (const id of messages.flatMap(idOf)) {
      urgent.delete(id);
      if (progresses.get(id) !== "read") progresses.set(id, "asked");
    }
    return { messages: onceEach(messages) };
  });
  pi.on("message_update", ({ message }) => noteAnswer(message));
  pi.on("message_end", ({ message }) => noteAnswer(message));

  function noteAnswer(message: PiMessage | undefined): void {
    if (message?.role === "assistant" && message.stopReason === "error")
      noteError(message.errorMessage ?? "an API error");
    if (message?.role !== "assistant" || message.stopReason === "error" || message.stopReason === "aborted") return;
    const asked = [...progresses].filter(([, progress]) => progress === "asked");
    if (asked.length > 0) move(() => asked.forEach(([id]) => progresses.set(id, "read")));
  }

  function noteError(error: string): void {
    setTimeout(() => !working && move(() => (failure = error)), givenUpMs);
  }

  /** What is still queued when pi rests was thrown away with the turn that the user has interrupted. */
  function endTurn(): void {
    working = false;
    urgent.clear();
    for (const [id, progress] of progresses) if (progress === "waiting") progresses.delete(id);
  }

  function attend(client: Socket): void {
    clients.add(client);
    let rest = "";
    client.setEncoding("utf8");
    // A client that left closes as well.
    client.on("error", () => undefined);
    client.on("close", () => clients.delete(client));
    client.on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const line of lines) take(client, JSON.parse(line) as PiCall);
    });
    write(client, stateNow());
  }

  function take(client: Socket, call: PiCall): void {
    const id = "find" in call ? call.find : call.deliver.id;
    if ("deliver" in call && find(id) === "absent") deliver(call.deliver);
    const progress = find(id);
    write(client, {
      answer: call.call,
      finding: {
        progress,
        stopped: stopped.get(id) ?? [],
        ...(progress === "asked" && failure !== undefined && { failure }),
      },
    });
  }

  function deliver({ id, tag, text, urgent: isUrgent, hard }: Extract<PiCall, { deliver: object }>["deliver"]): void {
    const idle = context?.isIdle() ?? true;
    const send = (): void => {
      move(() => (working = true));
      pi.sendMessage(
        { customType, content: text, display: true, details: { id } },
        { deliverAs: "steer", triggerTurn: true },
      );
      // A turn that could not even begin, for want of a model or a key, has no end either.
      setTimeout(() => whenIdle(() => working && move(endTurn)), unbegunMs);
    };
    progresses.set(id, idle || hard ? "asked" : "waiting");
    if (hard && !idle) {
      context?.abort();
      whenIdle(send);
      return;
    }
    if (isUrgent && !idle) urgent.set(id, tag);
    send();
  }

  /** The messages of an earlier pi are in the resumed conversation. */
  function find(id: string): PiProgress {
    const known = progresses.get(id);
    if (known !== undefined) return known;
    const branch = context?.sessionManager.getBranch() ?? [];
    const at = branch.findLastIndex((entry) => entry.type === "custom_message" && entry.details?.id === id);
    if (at < 0) return "absent";
    return branch.slice(at + 1).some(({ message }) => message?.role === "assistant" && message.stopReason !== "error")
      ? "read"
      : "asked";
  }

  function move(change: () => unknown): void {
    change();
    for (const client of clients) write(client, stateNow());
  }

  function whenIdle(act: () => void): void {
    if (context === null) return;
    if (context.isIdle()) act();
    else setTimeout(() => whenIdle(act), 10);
  }

  const stateNow = (): PiFrame => ({ state: { session: context?.sessionManager.getSessionId() ?? "", working } });
}

const write = (client: Socket, frame: PiFrame): void => void client.write(`${JSON.stringify(frame)}\n`);

const idOf = (message: PiMessage): string[] =>
  message.role === "custom" && message.customType === customType && message.details?.id ? [message.details.id] : [];

/** What was thought to be thrown away may still come. */
function onceEach(messages: PiMessage[]): PiMessage[] {
  const seen = new Set<string>();
  return messages.filter((message) => {
    const [id] = idOf(message);
    return id === undefined || (!seen.has(id) && seen.add(id));
  });
}
