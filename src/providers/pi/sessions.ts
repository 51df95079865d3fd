/**
 * Talks to the extensions inside our pis. One connection per pi, while it is watched.
 */
import { z } from "zod";
import type { Socket } from "bun";
import type { Agent, Endpoint } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import type { Clock } from "../../model/ids.ts";
import { Ages } from "../../os/ages.ts";
import { systemTimers, type Timers } from "../../os/timers.ts";
import { whileStarting, type ReportedState } from "../../agents/status/reportedState.ts";
import { complaintsOf, KeptOpen } from "../keptOpen.ts";
import type { PiCall, PiFinding, PiFrame } from "./extension.ts";
import { endpointKind, type LocatorOf } from "../../delivery/transports/endpointKind.ts";

export const piExtensionKind = endpointKind("pi-extension", { socket: z.string() });
export type PiLocator = LocatorOf<typeof piExtensionKind>;
export const piExtensionEndpoint = (locator: PiLocator): Endpoint => piExtensionKind.make(locator);

const piLocatorOf = (agent: Pick<Agent, "endpoints">): PiLocator | null => piExtensionKind.of(agent)?.locator ?? null;

export interface PiSessionsOptions {
  readonly report: (context: string, fault: unknown) => void;
  readonly retryMs?: number;
  readonly clock?: Clock;
  readonly timers?: Timers;
}

/** A pi whose extension does not listen after this time runs without it. */
const startingMs = 30_000;

type Call = PiCall extends infer One ? (One extends { call: number } ? Omit<One, "call"> : never) : never;

export class PiSessions implements AsyncDisposable {
  readonly transport = "pi-extension";
  private readonly connections = new Map<string, Connection>();

  private readonly ages: Ages;

  constructor(private readonly options: PiSessionsOptions) {
    this.ages = new Ages(options.clock);
  }

  sessionOf(agent: Agent): string | null {
    return this.known(agent)?.state?.session ?? agent.sessionId;
  }

  /** What the program says that it does; null when it says nothing. */
  reportedState(agent: Agent): ReportedState | null {
    if (piLocatorOf(agent) === null) return null;
    const state = this.known(agent)?.state ?? null;
    if (state !== null) return { state: state.working ? "working" : "idle", reason: null };
    return whileStarting(agent, startingMs, this.ages);
  }

  /** The same, once it has said something. Rejects when it is not there. */
  async ask(agent: Agent): Promise<ReportedState> {
    const { working } = await this.connectionOf(agent).opened();
    return { state: working ? "working" : "idle", reason: null };
  }

  call(agent: Agent, call: Call, signal?: AbortSignal): Promise<PiFinding> {
    return this.connectionOf(agent).call(call, signal);
  }

  watch(agent: Agent, changed: () => void): Disposable {
    return piLocatorOf(agent) === null
      ? { [Symbol.dispose]: () => undefined }
      : this.connectionOf(agent).watch(changed);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.connections.values()].map((connection) => connection.close()));
  }

  private known(agent: Agent): Connection | null {
    return this.connections.get(piLocatorOf(agent)?.socket ?? "") ?? null;
  }

  private connectionOf(agent: Agent): Connection {
    const socket = piLocatorOf(agent)?.socket;
    if (socket === undefined) throw notThere("", "connect");
    let connection = this.connections.get(socket);
    if (connection === undefined) this.connections.set(socket, (connection = new Connection(socket, this.options)));
    return connection;
  }
}

type State = Extract<PiFrame, { state: object }>["state"];

class Connection {
  /** What pi said last; null while there is no connection. */
  state: State | null = null;
  private readonly kept: KeptOpen<() => void>;
  private readonly complain: (fault: unknown) => void;
  private readonly calls = new Map<number, PromiseWithResolvers<PiFinding>>();
  private link: Promise<Socket> | null = null;
  private first = Promise.withResolvers<State>();
  private lastCall = 0;

  constructor(
    private readonly path: string,
    private readonly options: PiSessionsOptions,
  ) {
    this.kept = new KeptOpen({ open: () => this.keepOpen(), close: () => void this.close() }, options);
    this.complain = complaintsOf(`the pi at ${path}`, options.report);
  }

  async opened(): Promise<State> {
    await this.connected();
    return this.state ?? this.first.promise;
  }

  async call(call: Call, signal?: AbortSignal): Promise<PiFinding> {
    const socket = await this.connected();
    const id = ++this.lastCall;
    const answer = Promise.withResolvers<PiFinding>();
    this.calls.set(id, answer);
    const abort = (): void => answer.reject(notThere(this.path, "answer"));
    signal?.addEventListener("abort", abort, { once: true });
    try {
      const [finding] = await Promise.all([
        answer.promise,
        this.write(socket, `${JSON.stringify({ call: id, ...call })}\n`),
      ]);
      return finding;
    } finally {
      this.calls.delete(id);
      signal?.removeEventListener("abort", abort);
    }
  }

  watch(changed: () => void): Disposable {
    return this.kept.watch(changed);
  }

  async close(): Promise<void> {
    this.kept.end();
    // Who asked for a connection that did not come about has been told.
    const socket = await this.link?.catch(() => null);
    socket?.end();
  }

  private connected(): Promise<Socket> {
    this.link ??= this.connect().catch((thrown: unknown) => {
      this.link = null;
      throw notThere(this.path, "connect", thrown);
    });
    return this.link;
  }

  private connect(): Promise<Socket> {
    const decoder = new TextDecoder();
    let rest = "";
    const first = Promise.withResolvers<State>();
    // There may be no waiter; a later call gets the error from the connection.
    first.promise.catch(() => undefined);
    this.first = first;
    return Bun.connect({
      unix: this.path,
      socket: {
        data: (_socket, bytes) => {
          const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
          rest = lines.pop()!;
          for (const line of lines) this.take(JSON.parse(line) as PiFrame);
        },
        close: () => this.lost(),
        error: (socket, fault) => {
          this.complain(fault);
          socket.terminate();
        },
      },
    });
  }

  /** A socket takes what fits; the rest goes when it has room. */
  private async write(socket: Socket, text: string): Promise<void> {
    let bytes = Buffer.from(text);
    while (bytes.length > 0) {
      const written = socket.write(bytes);
      if (written < 0) throw notThere(this.path, "write");
      bytes = bytes.subarray(written);
      if (bytes.length > 0) await (this.options.timers ?? systemTimers).pause(2);
    }
  }

  private take(frame: PiFrame): void {
    if ("answer" in frame) {
      this.calls.get(frame.answer)?.resolve(frame.finding);
      return;
    }
    this.state = frame.state;
    this.first.resolve(frame.state);
    this.tell();
  }

  private lost(): void {
    this.link = null;
    this.state = null;
    this.first.reject(notThere(this.path, "connect"));
    for (const answer of this.calls.values()) answer.reject(notThere(this.path, "answer"));
    this.tell();
    this.kept.openLater();
  }

  private keepOpen(): void {
    this.connected().catch((fault: unknown) => {
      this.complain(fault);
      this.kept.openLater();
    });
  }

  private tell(): void {
    this.kept.tell((changed) => changed());
  }
}

const notThere = (path: string, what: string, cause?: unknown): TielineError =>
  new TielineError("DELIVERY_FAILED", `pi does not answer at ${path} (${what})`, {
    remedy: "`tieline ls` shows whether the agent still runs",
    operands: { path, refused: false },
    cause,
  });
