/**
 * What the servers inside of opencodes say about the conversations that are our agents. One stream of events per
 * server, open while its agent is watched.
 */
import { z } from "zod";
import type { Agent, Endpoint } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import type { Clock, MessageId } from "../../model/ids.ts";
import { Ages } from "../../os/ages.ts";
import { systemTimers, type Timers } from "../../os/timers.ts";
import { whileStarting, type ReportedState } from "../../agents/status/reportedState.ts";
import { complaintsOf, KeptOpen } from "../keptOpen.ts";
import { progressOf, type ConversationEntry, type MessageProgress } from "./conversation.ts";
import { Happenings } from "./happenings.ts";
import { opencodeServer, type OpencodeAddress, type OpencodeServer } from "./server.ts";
import { endpointKind, type LocatorOf } from "../../delivery/transports/endpointKind.ts";

export const opencodeServerKind = endpointKind("opencode-server", {
  port: z.number(),
  password: z.string().nullable(),
  /** Tieline did not start it, and it may be in any conversation, so Tieline begins none there. */
  adopted: z.boolean().exactOptional(),
});
export type OpencodeLocator = LocatorOf<typeof opencodeServerKind>;
export const opencodeServerEndpoint = (locator: OpencodeLocator): Endpoint => opencodeServerKind.make(locator);

export const opencodeLocatorOf = (agent: Pick<Agent, "endpoints">): OpencodeLocator | null =>
  opencodeServerKind.of(agent)?.locator ?? null;

export interface OpencodeSessionsOptions {
  readonly report: (context: string, fault: unknown) => void;
  readonly connect?: (address: OpencodeAddress) => OpencodeServer;
  readonly retryMs?: number;
  readonly clock?: Clock;
  readonly timers?: Timers;
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

  private readonly ages: Ages;

  constructor(private readonly options: OpencodeSessionsOptions) {
    this.ages = new Ages(options.clock);
  }

  /** The conversation that the agent is in; null: none that we know of. */
  sessionOf(agent: Agent): string | null {
    return this.known(agent)?.happenings.current ?? agent.sessionId;
  }

  /** What the program says that it does; null when it says nothing. */
  reportedState(agent: Agent): ReportedState | null {
    if (opencodeLocatorOf(agent) === null) return null;
    const connection = this.known(agent);
    if (connection?.open) return connection.happenings.reportedState(agent.sessionId);
    return whileStarting(agent, startingMs, this.ages);
  }

  /** Why it tries to reach its model again; null: it does not, undefined: it does not say. */
  retryingOf(agent: Agent): string | null | undefined {
    const connection = this.known(agent);
    return connection?.open ? connection.happenings.retrying(agent.sessionId) : undefined;
  }

  /** The same, once the server was asked. Rejects when it is not there. */
  async ask(agent: Agent): Promise<ReportedState> {
    const connection = this.connectionOf(agent);
    await connection.opened();
    return connection.happenings.reportedState(agent.sessionId);
  }

  request<Result>(
    agent: Agent,
    method: string,
    path: string,
    options?: { readonly body?: unknown; readonly signal?: AbortSignal },
  ): Promise<Result> {
    return this.connectionOf(agent).server.request<Result>(method, path, options);
  }

  /** Asks for its state again. One that does not answer loses its stream soon, and its reports with it. */
  async relearn(agent: Agent): Promise<void> {
    const connection = this.connectionOf(agent);
    await connection.happenings
      .learn((this.options.timers ?? systemTimers).timeout(silentMs))
      .catch((fault: unknown) => connection.complain(fault));
  }

  /** We begin a turn: it works until it says otherwise. */
  began(agent: Agent, session: string): void {
    this.connectionOf(agent).happenings.began(session);
  }

  /** How far a message has come in the agent's conversation. */
  async progress(agent: Agent, message: MessageId): Promise<MessageProgress> {
    const session = this.sessionOf(agent);
    if (session === null) return { kind: "absent" };
    const path = `/session/${session}/message`;
    const found = progressOf(
      message,
      await this.request<ConversationEntry[]>(agent, "GET", `${path}?limit=${lastEntries}`),
    );
    return found.kind === "absent"
      ? progressOf(message, await this.request<ConversationEntry[]>(agent, "GET", path))
      : found;
  }

  /** Keeps the stream of the agent's server open until disposed. */
  watch(agent: Agent, changed: () => void): Disposable {
    return opencodeLocatorOf(agent) === null
      ? { [Symbol.dispose]: () => undefined }
      : this.connectionOf(agent).watch(changed);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.connections.values()].map((connection) => connection.close()));
  }

  private known(agent: Agent): Connection | null {
    return this.connections.get(opencodeLocatorOf(agent)?.port ?? 0) ?? null;
  }

  private connectionOf(agent: Agent): Connection {
    const locator = opencodeLocatorOf(agent);
    if (locator === null)
      throw new TielineError("DELIVERY_FAILED", `${agent.name} has no server`, {
        remedy: "start it again with `tieline restart`",
        operands: { agent: agent.name },
      });
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
  /** Reports faults, except that the server is not there. */
  readonly complain: (fault: unknown) => void;
  private readonly kept: KeptOpen<() => void>;
  private stream: {
    readonly opened: Promise<void>;
    readonly ended: Promise<void>;
    readonly stop: AbortController;
  } | null = null;

  constructor(
    { port, password }: OpencodeAddress,
    private readonly options: OpencodeSessionsOptions,
  ) {
    const { connect = opencodeServer, report } = options;
    this.server = connect({ port, password });
    this.password = password;
    this.complain = complaintsOf(`the opencode at port ${port}`, report);
    this.kept = new KeptOpen(
      { open: () => void (this.stream ??= this.begin()), close: () => void this.close() },
      options,
    );
    this.happenings = new Happenings(this.server, () => this.tell());
  }

  opened(): Promise<void> {
    this.stream ??= this.begin();
    return this.stream.opened;
  }

  watch(changed: () => void): Disposable {
    return this.kept.watch(changed);
  }

  async close(): Promise<void> {
    this.kept.end();
    this.stream?.stop.abort();
    await this.stream?.ended;
  }

  private begin() {
    const stop = new AbortController();
    const opened = Promise.withResolvers<void>();
    // There may be no waiter; the fault is reported below.
    opened.promise.catch(() => undefined);
    const ended = this.read(stop.signal, opened.resolve).then(
      () =>
        opened.reject(
          new TielineError("DELIVERY_FAILED", "opencode has exited", {
            remedy: "`tieline ls` shows whether the agent still runs",
            operands: {},
          }),
        ),
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
    using _ = (this.options.timers ?? systemTimers).after(silentMs, () => {
      if (!this.open) silent.abort();
    });
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
    this.kept.openLater();
  }

  private tell(): void {
    this.kept.tell((changed) => changed());
  }
}
