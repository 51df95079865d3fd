/**
 * What Codex's app servers say about the threads that are our agents. One connection per server, open while a caller
 * watches one of its agents. We never subscribe to a thread: a subscriber is asked for approvals, and those are the
 * user's to give.
 */
import { z } from "zod";
import { existsSync, statSync } from "node:fs";
import type { Agent, Endpoint } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import type { Clock } from "../../model/ids.ts";
import { Ages } from "../../os/ages.ts";
import type { Timers } from "../../os/timers.ts";
import { whileStarting, type ReportedState } from "../../agents/status/reportedState.ts";
import { complaintsOf, KeptOpen } from "../keptOpen.ts";
import { connectAppServer, type AppServer, type AppServerNotification } from "./appServer.ts";
import { allHeldBy, homeOfCodex, lockedThreads, threadHeldBy } from "./processes.ts";
import { findRollout, rolloutFolders, type Rollout } from "./rollout.ts";
import type { Transcript } from "../transcripts/port.ts";
import { leadsInto } from "../../os/untrustedFile.ts";
import { tmuxEndpoint } from "../../delivery/transports/paneEndpoint.ts";
import { endpointKind, type LocatorOf } from "../../delivery/transports/endpointKind.ts";

export interface Thread {
  readonly id: string;
  readonly status: ThreadStatus;
  /** Where it is written down. */
  readonly path: string | null;
  readonly cwd: string;
  /** A conversation with the user; not a subagent's, not one that Codex has with itself. */
  readonly main: boolean;
}

export type ThreadStatus =
  | { readonly type: "notLoaded" | "idle" | "systemError" }
  | { readonly type: "active"; readonly activeFlags: readonly string[] };

export interface CodexThreadsOptions {
  /** Codex's default folder. */
  readonly codexHome: string;
  readonly report: (context: string, fault: unknown) => void;
  readonly connect?: (socketPath: string) => Promise<AppServer>;
  readonly retryMs?: number;
  readonly clock?: Clock;
  readonly timers?: Timers;
}

/** Behind the path of a server's socket: a file that exists when the program continued without it. */
export const alonePath = ".alone";

/** A server that has no thread after this time is none. */
const startingMs = 15_000;

/** How much earlier than a message was delivered its thread may have been written to last. */
const writtenLateMs = 2_000;

export interface ThreadWatch {
  /** Something about the agent's thread may have changed. */
  changed(): void;
  /** The server has loaded another conversation, which is the one that the user sees now. */
  loaded?(thread: Thread): void;
}

export const codexServerKind = endpointKind("codex-server", {
  socket: z.string(),
  /** The hooks that it was started with call us. */
  hooks: z.boolean(),
  /** Others use the server too: the agent is in the thread that it is known by, and in no other. */
  shared: z.boolean().exactOptional(),
});
export type CodexServerLocator = LocatorOf<typeof codexServerKind>;
export const codexServerEndpoint = (locator: CodexServerLocator): Endpoint => codexServerKind.make(locator);

export const codexServerOf = (agent: Pick<Agent, "endpoints">): CodexServerLocator | null =>
  codexServerKind.of(agent)?.locator ?? null;

export class CodexThreads implements AsyncDisposable {
  private readonly servers = new Map<string, Server>();
  private readonly transcripts = new Map<string, string>();

  private readonly ages: Ages;

  constructor(private readonly options: CodexThreadsOptions) {
    this.ages = new Ages(options.clock);
  }

  /** The thread that the agent is in, as far as it is known now. */
  known(agent: Agent): Thread | null {
    return this.servers.get(codexServerOf(agent)?.socket ?? "")?.threadOf(agent) ?? null;
  }

  /** The same, asking the server first where it was not asked yet. Rejects when it is not there. */
  async find(agent: Agent): Promise<Thread | null> {
    const server = this.serverOf(agent);
    await server.connected();
    return server.threadOf(agent);
  }

  /** What the program says that it does; null when it says nothing. A start looks like rest before its dialogs come. */
  reportedState(agent: Agent): ReportedState | null {
    const server = codexServerOf(agent);
    if (server === null) return null;
    const thread = this.known(agent);
    if (thread !== null) return reportedBy(thread.status);
    if (existsSync(`${server.socket}${alonePath}`)) return null;
    return whileStarting(agent, startingMs, this.ages);
  }

  async request<Result>(agent: Agent, method: string, params: unknown, signal?: AbortSignal): Promise<Result> {
    const app = await this.serverOf(agent).connected();
    return app.request<Result>(method, params, signal);
  }

  /** Keeps the connection to the agent's server open until disposed. */
  watch(agent: Agent, watch: ThreadWatch): Disposable {
    return codexServerOf(agent) === null ? { [Symbol.dispose]: () => undefined } : this.serverOf(agent).watch(watch);
  }

  /** Whether this thread is surely none of the agent's: its server is there, and has not loaded it. */
  isElsewhere(agent: Agent, threadId: string): boolean {
    const server = this.servers.get(codexServerOf(agent)?.socket ?? "");
    return server !== undefined && server.threadOf(agent) !== null && !server.has(threadId);
  }

  /** Where the agent's conversation is written down; null as long as that is not known. */
  transcriptOf(agent: Agent): Rollout | null {
    const thread = this.known(agent);
    const threadId = thread?.id ?? this.threadIdOf(agent);
    if (threadId === null) return null;
    const path = thread?.path ?? this.transcripts.get(threadId) ?? findRollout(this.homeOf(agent), threadId);
    if (path === null) return null;
    this.transcripts.set(threadId, path);
    return this.rolloutAt(agent, path);
  }

  /**
   * The records that the agent's conversation may be in. A server tells which; a program on its own keeps every
   * conversation open that it was in, and one at a shared server shows nothing, so that any that was written since
   * counts.
   */
  transcriptsOf(agent: Agent, since: number): Pick<Transcript, "files" | "below"> {
    const thread = codexServerOf(agent)?.shared ? null : this.known(agent);
    const home = this.homeOf(agent);
    const own = allHeldBy(pidOf(agent)).map(({ threadId }) => threadId);
    const ids = thread ? [thread.id] : own.length > 0 ? own : lockedThreads(home);
    const wanted = new Set([...ids, ...(agent.sessionId === null ? [] : [agent.sessionId])]);
    const files = [...wanted].flatMap((id) => {
      const path = thread?.id === id ? thread.path : this.pathOf(home, id);
      return path !== null && writtenAt(path) >= since - writtenLateMs ? [{ path, conversation: id }] : [];
    });
    return { files, below: this.rolloutAt(agent, "").below };
  }

  private pathOf(home: string, threadId: string): string | null {
    const path = this.transcripts.get(threadId) ?? findRollout(home, threadId);
    if (path !== null) this.transcripts.set(threadId, path);
    return path;
  }

  /** A record that the program names, with the folders that it must be in. */
  rolloutAt(agent: Agent, path: string): Rollout {
    return { path, below: [this.homeOf(agent), this.options.codexHome].flatMap(rolloutFolders) };
  }

  /** A hook told where a thread is written down; it is believed only where Codex keeps its threads. */
  learnTranscript(agent: Agent, threadId: string, path: string): void {
    if (this.rolloutAt(agent, path).below.some((folder) => leadsInto(path, folder)))
      this.transcripts.set(threadId, path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.servers.values()].map((server) => server.close()));
  }

  /** The user may have started it with another home than ours. */
  private homeOf(agent: Agent): string {
    return homeOfCodex(pidOf(agent)) ?? this.options.codexHome;
  }

  /** A program that was restarted in its pane is in another thread than the one that we know it by. */
  private threadIdOf(agent: Agent): string | null {
    return threadHeldBy(pidOf(agent), agent.sessionId)?.threadId ?? agent.sessionId;
  }

  private serverOf(agent: Agent): Server {
    const locator = codexServerOf(agent);
    if (locator === null)
      throw new TielineError("DELIVERY_FAILED", `${agent.name} has no app server`, {
        remedy: "start it again with `tieline restart`",
        operands: { agent: agent.name },
      });
    let server = this.servers.get(locator.socket);
    if (server === undefined) this.servers.set(locator.socket, (server = new Server(locator.socket, this.options)));
    return server;
  }
}

const writtenAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

const pidOf = (agent: Agent): number => tmuxEndpoint.of(agent)?.locator.agentPid ?? 0;

export function reportedBy(status: ThreadStatus): ReportedState | null {
  switch (status.type) {
    case "idle":
      return { state: "idle", reason: null };
    case "systemError":
      return { state: "idle", reason: "its last turn ended in an error" };
    case "active":
      if (status.activeFlags.includes("waitingOnApproval")) return { state: "permission", reason: null };
      if (status.activeFlags.includes("waitingOnUserInput")) return { state: "question", reason: null };
      return { state: "working", reason: null };
    case "notLoaded":
      return null;
  }
}

interface WireThread {
  readonly id: string;
  readonly status: ThreadStatus;
  readonly path: string | null;
  readonly cwd: string;
  readonly ephemeral: boolean;
  readonly parentThreadId: string | null;
}

class Server {
  private readonly threads = new Map<string, Thread>();
  private readonly kept: KeptOpen<ThreadWatch>;
  private readonly complain: (fault: unknown) => void;
  private connection: Promise<AppServer> | null = null;

  constructor(
    private readonly socket: string,
    private readonly options: CodexThreadsOptions,
  ) {
    this.kept = new KeptOpen({ open: () => this.keepOpen(), close: () => void this.close() }, options);
    this.complain = complaintsOf(`the Codex app server at ${socket}`, options.report);
  }

  /** The thread that we know the agent by; before its first turn, the newest one. */
  threadOf(agent: Agent): Thread | null {
    const known = agent.sessionId === null ? undefined : this.threads.get(agent.sessionId);
    if (codexServerOf(agent)?.shared) return known ?? null;
    return (
      known ??
      [...this.threads.values()].filter(({ main }) => main).toSorted((a, b) => (a.id < b.id ? 1 : -1))[0] ??
      null
    );
  }

  has(threadId: string): boolean {
    return this.threads.has(threadId);
  }

  connected(): Promise<AppServer> {
    this.connection ??= this.open();
    return this.connection;
  }

  watch(watch: ThreadWatch): Disposable {
    return this.kept.watch(watch);
  }

  async close(): Promise<void> {
    this.kept.end();
    // Who asked for a connection that did not come about has been told.
    const app = await this.connection?.catch(() => null);
    await app?.close();
  }

  private async open(): Promise<AppServer> {
    try {
      const app = await (this.options.connect ?? connectAppServer)(this.socket);
      void app.closed.then(() => this.lost());
      app.listen((notification) => void this.hear(app, notification).catch((fault: unknown) => this.complain(fault)));
      for (const thread of await loadedThreads(app)) this.threads.set(thread.id, thread);
      this.tell();
      return app;
    } catch (thrown) {
      this.connection = null;
      throw thrown;
    }
  }

  private async hear(app: AppServer, { method, params }: AppServerNotification): Promise<void> {
    if (method === "thread/started") return this.load(params["thread"] as WireThread);
    if (method === "thread/closed") this.threads.delete(String(params["threadId"]));
    if (method !== "thread/status/changed") return;
    const id = String(params["threadId"]);
    const status = params["status"] as ThreadStatus;
    const known = this.threads.get(id);
    if (known) {
      this.threads.set(id, { ...known, status });
      this.tell();
    } else if (status.type !== "notLoaded") {
      const thread = await this.read(app, id);
      if (thread.main) this.kept.tell((watch) => watch.loaded?.(thread));
      this.tell();
    }
  }

  private load(wire: WireThread): void {
    const isNew = !this.threads.has(wire.id);
    const thread = threadFrom(wire);
    this.threads.set(thread.id, thread);
    if (isNew && thread.main) this.kept.tell((watch) => watch.loaded?.(thread));
    this.tell();
  }

  private async read(app: AppServer, threadId: string): Promise<Thread> {
    const thread = await readThread(app, threadId);
    this.threads.set(thread.id, thread);
    return thread;
  }

  private lost(): void {
    this.connection = null;
    this.threads.clear();
    this.tell();
    if (this.kept.isWatched) this.keepOpen();
  }

  private keepOpen(): void {
    if (this.connection !== null) return;
    this.connected().catch((fault: unknown) => {
      this.complain(fault);
      this.kept.openLater();
    });
  }

  private tell(): void {
    this.kept.tell(({ changed }) => changed());
  }
}

export async function loadedThreads(app: AppServer): Promise<Thread[]> {
  const { data } = await app.request<{ data: string[] }>("thread/loaded/list", {});
  return Promise.all(data.map((id) => readThread(app, id)));
}

async function readThread(app: AppServer, threadId: string): Promise<Thread> {
  const { thread } = await app.request<{ thread: WireThread }>("thread/read", { threadId, includeTurns: false });
  return threadFrom(thread);
}

const threadFrom = ({ id, status, path, cwd, ephemeral, parentThreadId }: WireThread): Thread => ({
  id,
  status,
  path,
  cwd,
  main: !ephemeral && parentThreadId === null,
});
