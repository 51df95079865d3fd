import type { HomeConfig } from "../../config/home.ts";
import type { Courier } from "../../delivery/courier.ts";
import type { Directory } from "../directory/directory.ts";
import type { Mailbox } from "../../mailbox/port.ts";
import { endpointBy, exitIn, exitWords, type Agent, type Endpoint, type Exit } from "../../model/agent.ts";
import type { HoldReason } from "../../model/delivery.ts";
import { asTielineError, TielineError } from "../../model/errors.ts";
import type { Profile } from "../../model/profile.ts";
import type { HookSetup } from "../../providers/port.ts";
import { systemTimers, type Timers } from "../../os/timers.ts";
import type { Providers } from "../../providers/providers.ts";
import { cursorLine, snapshotPane } from "../../tmux/pane.ts";
import type { Processes } from "../../os/processes.ts";
import { readsFiles } from "../../delivery/transports/filesEndpoint.ts";
import { closeWithProgram } from "../../tmux/session.ts";
import { tmuxEndpoint } from "../../delivery/transports/paneEndpoint.ts";
import type { ProbingTransport } from "../../delivery/transports/port.ts";
import type { TmuxServers } from "../layout/servers.ts";
import { exitedAtOnce, failedStart, shortLifeMs, takeExit } from "../status/lastExit.ts";
import type { WantedConversation } from "./launch.ts";
import type { SandboxSurroundings } from "./prepare.ts";
import { start, type StartParts } from "./start.ts";

export interface AgentStarterParts {
  readonly directory: Directory;
  /** A profile as it may be started now; null: there is none. Throws UNTRUSTED. */
  readonly profileToStart: (team: string, name: string) => Profile | null;
  readonly servers: TmuxServers;
  readonly processes: Processes;
  readonly config: HomeConfig;
  readonly courier: Pick<Courier, "wake">;
  readonly mailbox: Pick<Mailbox, "heads" | "hold">;
  readonly tmux: Pick<ProbingTransport, "probe" | "watch">;
  /** The directory of a team's project. */
  readonly directoryOf: (team: string) => string | null;
  /** The names that an agent can write to. */
  readonly reachable: (agent: Agent) => readonly string[];
  /** What is around its sandbox. */
  readonly surroundings: (agent: Agent) => SandboxSurroundings;
  readonly providers: Providers;
  readonly ask: StartParts["ask"];
  readonly command: StartParts["command"];
  readonly hooks: HookSetup;
  readonly report: (context: string, fault: unknown) => void;
  readonly timers?: Timers;
  readonly options: {
    readonly root: string;
    readonly binDirectory: string;
    readonly socketsDirectory: string;
    readonly tmuxSocket: string;
    readonly env: Readonly<Record<string, string>>;
  };
}

export interface Start {
  /** The tmux server; without it, the one it lived in before. */
  readonly socket?: string;
  /** Whether to continue its last conversation, where the program can. */
  readonly conversation?: WantedConversation;
}

/** Starts agents from their profiles and waits until they can be written to. */
export class AgentStarter implements Disposable {
  private readonly underWay = new Map<string, Promise<Agent>>();
  private readonly stopping = new AbortController();

  constructor(private readonly parts: AgentStarterParts) {}

  /**
   * Resolves when the agent is ready, or when it is still starting after the time that it is given. Who wants an agent
   * that is just being started, as `up` and its first mail do, gets that one and not a second.
   */
  start(agent: Agent, options: Start = {}): Promise<Agent> {
    const name = `${agent.team}:${agent.name}`;
    const underWay = this.underWay.get(name);
    if (underWay) return underWay;
    const begun = this.begin(agent, options).finally(() => this.underWay.delete(name));
    this.underWay.set(name, begun);
    return begun;
  }

  /** Starts that a daemon before this one had begun to follow. */
  recover(): void {
    for (const agent of this.parts.directory.agents())
      if (agent.launch?.["keepsDead"] === true) this.follow(agent, -shortLifeMs);
  }

  [Symbol.dispose](): void {
    this.stopping.abort();
  }

  private async begin(agent: Agent, { socket, conversation = "resume" }: Start): Promise<Agent> {
    const { directory, servers, courier, options } = this.parts;
    const profile = this.profileOf(agent);
    const { may, workspace } = profile;
    const enlisted = directory.update(directory.add({ ...agent, may, workspace }).id, { launch: agent.launch });
    const server = servers.at(socket ?? usualSocket(agent) ?? options.tmuxSocket);
    const begunAt = this.now();
    const started = await start(server, enlisted, profile, conversation, {
      ...this.parts,
      ...options,
      home: options.root,
    }).catch((thrown: unknown) => this.gone(enlisted, thrown));
    const overdue = await this.untilReady(started).catch((thrown: unknown) => this.ended(started, begunAt, thrown));
    this.follow(started, begunAt);
    if (overdue !== null) await this.tellWaitingMail(started, overdue);
    courier.wake(started.id);
    return directory.agent(started.id) ?? started;
  }

  /** What it would be started from now. Throws UNTRUSTED where the user has not trusted that. */
  profileOf(agent: Agent): Profile {
    const profile = this.parts.profileToStart(agent.team, agent.launch?.profile ?? agent.profile ?? agent.name);
    if (profile === null) throw noProfile(agent);
    return profile;
  }

  /** A program that exited is not kept as one that may still run. */
  private gone({ id }: Agent, thrown: unknown): never {
    const { directory } = this.parts;
    const error = asTielineError(thrown);
    const exit = exitIn(error);
    if (directory.agent(id) !== null)
      directory.update(id, { endpoints: [], state: "gone", stateReason: failedStart(error), lastExit: exit });
    throw thrown;
  }

  /** If the program exited, its pane is still there and shows why. */
  private async ended(agent: Agent, begunAt: number, thrown: unknown): Promise<never> {
    const exit = await this.exitOf(agent, begunAt);
    return this.gone(
      agent,
      exit === null ? thrown : exitedAtOnce(agent.name, exit, this.parts.directoryOf(agent.team)),
    );
  }

  private async exitOf(agent: Agent, begunAt: number): Promise<Exit | null> {
    const endpoint = endpointBy("tmux", agent);
    if (endpoint === undefined) return null;
    const locator = tmuxEndpoint.locatorOf(endpoint);
    const words = agent.launch?.["words"];
    const command = typeof words === "string" ? words : agent.name;
    return takeExit(this.parts.servers.at(locator.socket), locator, {
      command,
      afterMs: Math.max(0, this.now() - begunAt),
    });
  }

  /**
   * For as long as its end would be a failed start, its pane outlives it; then the pane closes with the program, as
   * others do.
   */
  private follow(agent: Agent, begunAt: number): void {
    this.untilSettled(agent, begunAt).catch((fault: unknown) =>
      this.parts.report(`follow the start of ${agent.name}`, fault),
    );
  }

  private async untilSettled(agent: Agent, begunAt: number): Promise<void> {
    const { directory, tmux, servers } = this.parts;
    const endpoint = endpointBy("tmux", agent);
    if (endpoint === undefined) return;
    const { socket, pane } = tmuxEndpoint.locatorOf(endpoint);
    const isSame = (): boolean => samePane(endpoint, directory.agent(agent.id));
    const changes = new Pulse(this.stopping.signal, this.timers);
    using _ = tmux.watch(agent, endpoint, () => changes.beat());
    for (;;) {
      const leftMs = shortLifeMs - (this.now() - begunAt);
      if (this.stopping.signal.aborted || (await this.noteExit(agent, begunAt))) return;
      if (leftMs <= 0 || !isSame()) break;
      await changes.next(leftMs);
    }
    await closeWithProgram(servers.at(socket), pane).catch((thrown: unknown) => {
      if (!["PANE_UNKNOWN", "TMUX_UNAVAILABLE"].includes(asTielineError(thrown).code)) throw thrown;
    });
    // It may have exited while its pane stayed.
    if (await this.noteExit(agent, begunAt)) return;
    const { keepsDead: _keepsDead, ...launch } = directory.agent(agent.id)?.launch ?? {};
    if (isSame()) directory.update(agent.id, { launch });
  }

  /**
   * true: its program has ended, and its pane is closed. What was stopped on purpose in the meantime keeps its reason.
   */
  private async noteExit(agent: Agent, begunAt: number): Promise<boolean> {
    const { directory, courier } = this.parts;
    const exit = await this.exitOf(agent, begunAt);
    if (exit === null || !samePane(endpointBy("tmux", agent)!, directory.agent(agent.id))) return exit !== null;
    directory.update(agent.id, { endpoints: [], lastExit: exit });
    directory.observe(agent.id, "gone", exitWords(exit));
    courier.wake(agent.id);
    return true;
  }

  private now(): number {
    return this.timers.elapsed();
  }

  private get timers(): Timers {
    return this.parts.timers ?? systemTimers;
  }

  /**
   * Resolves with what the program still does when its time is over. A dialog counts as ready: only a user can
   * continue from there, and its mail says what it waits for.
   */
  private async untilReady(agent: Agent): Promise<string | null> {
    const { tmux, config } = this.parts;
    // An agent that reads files can be written to at any time.
    if (readsFiles(agent)) return null;
    const endpoint = agent.endpoints[0]!;
    const deadline = this.timers.timeout(config.spawn.readyTimeoutMs);
    const changes = new Pulse(this.stopping.signal, this.timers);
    using _ = tmux.watch(agent, endpoint, () => changes.beat());
    for (;;) {
      const readiness = await tmux.probe(agent, endpoint);
      if (readiness.kind === "gone") throw endedAtOnce(agent, readiness.detail);
      if (readiness.kind === "ready") return this.learnRest(agent, endpoint);
      if (!startsUp.has(readiness.hold.reason)) return null;
      if (deadline.aborted) return readiness.hold.detail;
      await changes.next(readiness.againInMs ?? config.delivery.pollIntervalMs);
    }
  }

  /**
   * The text on the cursor's line before anything could be typed there; more than that is a user's draft. Only for
   * programs whose screen tells nothing: the rules of the others find the composer.
   */
  private async learnRest({ id }: Agent, { transport, locator }: Endpoint): Promise<null> {
    const { directory, servers, providers } = this.parts;
    const agent = directory.agent(id);
    if (agent === null || transport !== "tmux" || providers.terminal(agent.provider).quietMs === 0) return null;
    const { socket, pane, terminal } = tmuxEndpoint.locatorOf({ transport, locator });
    const restingLine = cursorLine(await snapshotPane(servers.at(socket), pane));
    const endpoints = agent.endpoints.map((one) =>
      one.transport === transport
        ? { transport, locator: { ...locator, terminal: { ...terminal, restingLine } } }
        : one,
    );
    directory.update(id, { endpoints });
    return null;
  }

  /** The mail stays queued, and its history says that the start took too long. */
  private async tellWaitingMail(agent: Agent, doing: string): Promise<void> {
    const { mailbox, config } = this.parts;
    const seconds = config.spawn.readyTimeoutMs / 1_000;
    const detail = `${agent.name} was started, but is not ready after ${seconds} s: ${doing}`;
    for (const { id } of mailbox.heads(agent.id, Number.MAX_SAFE_INTEGER))
      await mailbox.hold(id, { reason: "starting", detail });
  }
}

/** Where it lived before. */
function usualSocket({ launch }: Agent): string | null {
  const socket = launch?.["socket"];
  return typeof socket === "string" ? socket : null;
}

/** What a program may look like before it takes input. */
const startsUp: ReadonlySet<HoldReason> = new Set(["busy", "starting", "unreadable"]);

/** The next beat, or the end of a pause. */
class Pulse {
  private wake: () => void = () => undefined;
  private beaten = false;

  constructor(
    stopping: AbortSignal,
    private readonly timers: Pick<Timers, "after">,
  ) {
    stopping.addEventListener("abort", () => this.beat());
  }

  beat(): void {
    this.beaten = true;
    this.wake();
  }

  /** A beat since the last one ends it at once. */
  async next(ms: number): Promise<void> {
    using _timer = this.timers.after(ms, () => this.wake());
    if (!this.beaten) await new Promise<void>((resolve) => (this.wake = resolve));
    this.beaten = false;
  }
}

/** Whether the agent still lives where it was started. */
const samePane = (endpoint: Endpoint, agent: Agent | null): boolean => {
  const now = agent === null ? undefined : tmuxEndpoint.of(agent)?.locator;
  const { pane, panePid } = tmuxEndpoint.locatorOf(endpoint);
  return now !== undefined && now.pane === pane && now.panePid === panePid;
};

const noProfile = (agent: Agent): TielineError =>
  new TielineError("SPAWN_FAILED", `${agent.name} has no profile any more`, {
    remedy: "add it to tieline.yaml again, or remove the agent with `tieline rm`",
    operands: { agent: agent.name },
  });

const endedAtOnce = (agent: Agent, reason: string): TielineError =>
  new TielineError("SPAWN_FAILED", `${agent.name} exited at its start (${reason})`, {
    remedy: "run its command by hand to see why",
    operands: { agent: agent.name, reason },
  });
