/**
 * What the servers inside of opencodes say about the conversations that are our agents. One stream of events per
 * server, open while somebody watches its agent.
 */
import type { Agent, Endpoint } from "../../model/agent.ts";
import { asTielineError, TielineError } from "../../model/errors.ts";
import { systemClock, type Clock, type MessageId } from "../../model/ids.ts";
import type { Said } from "../../sensing/ownWord.ts";
import { standingOf, type Entry, type Standing } from "./conversation.ts";
import { Happenings } from "./happenings.ts";
import { opencodeServer, type OpencodeAddress, type OpencodeServer } from "./server.ts";

export const opencodeServerEndpoint = (locator: OpencodeLocator): Endpoint => ({ transport: "opencode-server", locator: { ...locator } });

export interface OpencodeLocator extends OpencodeAddress {
  /** Somebody else started it, and may be in any conversation: none is begun there on our own. */
  readonly adopted?: boolean;
}

export function opencodeLocatorOf({ endpoints }: Pick<Agent, "endpoints">): OpencodeLocator | null {
  const endpoint = endpoints.find(({ transport }) => transport === "opencode-server");
  return endpoint === undefined ? null : (endpoint.locator as unknown as OpencodeLocator);
}

export interface OpencodeSessionsOptions {
  readonly report: (context: string, fault: unknown) => void;
  readonly connect?: (address: OpencodeAddress) => OpencodeServer;
  readonly retryMs?: number;
  readonly clock?: Clock;
}

/** A program that does not listen after this time never will. */
const startingMs = 30_000;
/** A request that comes while opencode starts is never answered; one that was is answered at once. */
const silentMs = 3_000;
/** Where a message is looked for first; only a long turn puts more behind it. */
const lastEntries = 50;

export class OpencodeSessions implements AsyncDisposable {
  readonly transport = "opencode-server";
  private readonly connections = new Map<number, Connection>();

  constructor(private readonly options: OpencodeSessionsOptions) {}

  /** The conversation that the agent is in; null: none that we know of. */
  sessionOf(agent: Agent): string | null {
    return this.known(agent)?.happenings.current ?? agent.sessionId;
  }

  /** What the program says that it does; null when it says nothing. */
  said(agent: Agent): Said | null {
    if (opencodeLocatorOf(agent) === null) return null;
    const connection = this.known(agent);
    if (connection?.open) return connection.happenings.said(agent.sessionId);
    const young = agent.state === "starting" && (this.options.clock ?? systemClock)() - agent.stateAt < startingMs;
    return young ? { state: "starting", reason: null } : null;
  }

  /** The same, once the server was asked. Rejects when it is not there. */
  async ask(agent: Agent): Promise<Said> {
    const connection = this.connectionOf(agent);
    await connection.opened();
    return connection.happenings.said(agent.sessionId);
  }

  request<Result>(agent: Agent, method: string, path: string, options?: { readonly body?: unknown; readonly signal?: AbortSignal }): Promise<Result> {
    return this.connectionOf(agent).server.request<Result>(method, path, options);
  }

  /** Asks anew what it does. One that does not answer loses its stream soon, and all that was said with it. */
  async relearn(agent: Agent): Promise<void> {
    const connection = this.connectionOf(agent);
    await connection.happenings.learn(AbortSignal.timeout(silentMs)).catch((fault: unknown) => connection.complain(fault));
  }

  /** We begin a turn: it works until it says otherwise. */
  began(agent: Agent, session: string): void {
    this.connectionOf(agent).happenings.began(session);
  }

  /** How far a message has come in the agent's conversation. */
  async standing(agent: Agent, message: MessageId): Promise<Standing> {
    const session = this.sessionOf(agent);
    if (session === null) return { kind: "absent" };
    const path = `/session/${session}/message`;
    const found = standingOf(message, await this.request<Entry[]>(agent, "GET", `${path}?limit=${lastEntries}`));
    return found.kind === "absent" ? standingOf(message, await this.request<Entry[]>(agent, "GET", path)) : found;
  }

  /** Keeps the stream of the agent's server open until disposed. */
  watch(agent: Agent, changed: () => void): Disposable {
    return opencodeLocatorOf(agent) === null ? { [Symbol.dispose]: () => undefined } : this.connectionOf(agent).watch(changed);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.connections.values()].map((connection) => connection.close()));
  }

  private known(agent: Agent): Connection | null {
    return this.connections.get(opencodeLocatorOf(agent)?.port ?? 0) ?? null;
  }

  private connectionOf(agent: Agent): Connection {
    const locator = opencodeLocatorOf(agent);
    if (locator === null) throw new TielineError("DELIVERY_FAILED", `${agent.name} has no server`, { remedy: "start it again with `tieline restart`", operands: { agent: agent.name } });
    const known = this.connections.get(locator.port);
    if (known !== undefined && known.password === locator.password) return known;
    void known?.close();
    const connection = new Connection(locator, this.options);
    this.connections.set(locator.port, connection);
    return connection;
  }
}

class Connection {
  readonly server: OpencodeServer;
  readonly happenings: Happenings;
  readonly password: string | null;
  /** Whether events come in, so that what they said still holds. */
  open = false;
  private readonly watches = new Set<() => void>();
  private readonly retryMs: number;
  private stream: { readonly opened: Promise<void>; readonly ended: Promise<void>; readonly stop: AbortController } | null = null;
  private retry: Timer | null = null;
  private readonly complaints = new Set<string>();

  constructor(
    private readonly address: OpencodeAddress,
    private readonly options: OpencodeSessionsOptions,
  ) {
    const { connect = opencodeServer, retryMs = 250 } = options;
    this.server = connect(address);
    this.password = address.password;
    this.retryMs = retryMs;
    this.happenings = new Happenings(this.server, () => this.tell());
  }

  opened(): Promise<void> {
    this.stream ??= this.begin();
    return this.stream.opened;
  }

  watch(changed: () => void): Disposable {
    this.watches.add(changed);
    this.keepOpen();
    return {
      [Symbol.dispose]: () => {
        this.watches.delete(changed);
        if (this.watches.size === 0) void this.close();
      },
    };
  }

  async close(): Promise<void> {
    this.watches.clear();
    if (this.retry) clearTimeout(this.retry);
    this.retry = null;
    this.stream?.stop.abort();
    await this.stream?.ended;
  }

  /** A server that is not there says so to whoever asks. What else goes wrong is reported, once and not at each try. */
  complain(fault: unknown): void {
    const { message, operands } = asTielineError(fault);
    if (operands["refused"] === false || this.complaints.has(message)) return;
    this.complaints.add(message);
    this.options.report(`the opencode at port ${this.address.port}`, fault);
  }

  private begin() {
    const stop = new AbortController();
    const opened = Promise.withResolvers<void>();
    // Nobody may be waiting for it; what went wrong is said below.
    opened.promise.catch(() => undefined);
    const ended = this.read(stop.signal, opened.resolve).then(
      () => opened.reject(new TielineError("DELIVERY_FAILED", "the opencode ended", { remedy: "see whether the agent still runs with `tieline status`", operands: {} })),
      (fault: unknown) => {
        this.complain(fault);
        opened.reject(fault);
      },
    );
    return { opened: opened.promise, ended: ended.finally(() => this.lost()), stop };
  }

  private async read(stopped: AbortSignal, opened: () => void): Promise<void> {
    const silent = new AbortController();
    const signal = AbortSignal.any([stopped, silent.signal]);
    using _ = after(silentMs, () => this.open || silent.abort());
    for await (const event of this.server.events(signal)) {
      if (!this.open) {
        await this.happenings.learn(signal);
        this.open = true;
        opened();
        this.tell();
      }
      await this.happenings.hear(event, signal);
    }
  }

  private lost(): void {
    this.stream = null;
    this.open = false;
    this.tell();
    this.retryLater();
  }

  private keepOpen(): void {
    if (this.watches.size > 0) this.stream ??= this.begin();
  }

  /** A server that is starting, or was started anew, gives no sign; while somebody watches it is tried again. */
  private retryLater(): void {
    if (this.watches.size === 0 || this.retry !== null) return;
    this.retry = setTimeout(() => {
      this.retry = null;
      this.keepOpen();
    }, this.retryMs);
  }

  private tell(): void {
    for (const changed of [...this.watches]) changed();
  }
}

function after(ms: number, act: () => void): Disposable {
  const timer = setTimeout(act, ms);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
