import type { HomeConfig } from "../config/home.ts";
import type { Courier } from "../courier.ts";
import type { Directory } from "../directory/directory.ts";
import type { Mailbox } from "../mailbox/port.ts";
import type { Agent, Endpoint } from "../model/agent.ts";
import type { HoldReason } from "../model/delivery.ts";
import { asTielineError, TielineError } from "../model/errors.ts";
import type { Profile } from "../model/profile.ts";
import type { HookSetup } from "../providers/provider.ts";
import { terminalTraits } from "../providers/traits.ts";
import { cursorLine, look } from "../tmux/pane.ts";
import type { Processes } from "../tmux/process.ts";
import { readsFiles } from "../transports/filesEndpoint.ts";
import { paneLocator } from "../transports/paneLocator.ts";
import type { ProbingTransport } from "../transports/port.ts";
import type { TmuxServers } from "./servers.ts";
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
  /** Whom an agent can write to. */
  readonly reachable: (agent: Agent) => readonly string[];
  /** What is around its sandbox. */
  readonly surroundings: (agent: Agent) => SandboxSurroundings;
  readonly ask: StartParts["ask"];
  readonly command: StartParts["command"];
  readonly hooks: HookSetup;
  readonly options: { readonly root: string; readonly binDirectory: string; readonly socketsDirectory: string; readonly tmuxSocket: string; readonly env: Readonly<Record<string, string>> };
}

export interface Start {
  /** The tmux server; without it, the one it lived in before. */
  readonly socket?: string;
  /** Whether to go on with its last conversation, where the program can. */
  readonly conversation?: WantedConversation;
}

/** Starts agents from their profiles and waits until they can be written to. */
export class AgentStarter {
  private readonly underWay = new Map<string, Promise<Agent>>();

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

  private async begin(agent: Agent, { socket, conversation = "resume" }: Start): Promise<Agent> {
    const { directory, servers, courier, options } = this.parts;
    const profile = this.profileOf(agent);
    const { may, workspace } = profile;
    const enlisted = directory.update(directory.add({ ...agent, may, workspace }).id, { launch: agent.launch });
    const server = servers.at(socket ?? usualSocket(agent) ?? options.tmuxSocket);
    const started = await start(server, enlisted, profile, conversation, { ...this.parts, ...options, home: options.root });
    const overdue = await this.untilReady(started).catch((thrown: unknown) => this.gone(started, thrown));
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

  /** What ended is not left behind as something that may still be there. */
  private gone({ id }: Agent, thrown: unknown): never {
    const { directory } = this.parts;
    if (directory.agent(id) !== null) directory.update(id, { endpoints: [], state: "gone", stateReason: asTielineError(thrown).message });
    throw thrown;
  }

  /**
   * Resolves with what the program still does when its time is over. A dialog counts as ready: only a person can go
   * on from there, and its mail says what it waits for.
   */
  private async untilReady(agent: Agent): Promise<string | null> {
    const { tmux, config } = this.parts;
    // Whoever reads files can be written to at any time.
    if (readsFiles(agent)) return null;
    const endpoint = agent.endpoints[0]!;
    const deadline = AbortSignal.timeout(config.spawn.readyTimeoutMs);
    const changes = new Pulse();
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
   * What stands on the cursor's line before anybody could type there; more than that is a person's draft. Only for
   * programs whose screen tells nothing: the rules of the others find the composer.
   */
  private async learnRest({ id }: Agent, { transport, locator }: Endpoint): Promise<null> {
    const { directory, servers } = this.parts;
    const agent = directory.agent(id);
    if (agent === null || transport !== "tmux" || terminalTraits(agent.provider).quietMs === 0) return null;
    const { socket, pane, terminal } = paneLocator({ transport, locator });
    const restingLine = cursorLine(await look(servers.at(socket), pane));
    const endpoints = agent.endpoints.map((one) => (one.transport === transport ? { transport, locator: { ...locator, terminal: { ...terminal, restingLine } } } : one));
    directory.update(id, { endpoints });
    return null;
  }

  /** The mail stays queued, and its story says that the start took too long. */
  private async tellWaitingMail(agent: Agent, doing: string): Promise<void> {
    const { mailbox, config } = this.parts;
    const detail = `${agent.name} was started, but is not ready after ${config.spawn.readyTimeoutMs / 1_000} s: ${doing}`;
    for (const { id } of mailbox.heads(agent.id, Number.MAX_SAFE_INTEGER)) await mailbox.hold(id, { reason: "starting", detail });
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

  beat(): void {
    this.wake();
  }

  next(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

const noProfile = (agent: Agent): TielineError =>
  new TielineError("SPAWN_FAILED", `${agent.name} has no profile any more`, {
    remedy: "write it down again in tieline.yaml, or remove the agent with `tieline rm`",
    operands: { agent: agent.name },
  });

const endedAtOnce = (agent: Agent, reason: string): TielineError =>
  new TielineError("SPAWN_FAILED", `${agent.name} ended as soon as it was started (${reason})`, {
    remedy: "run its command by hand to see why",
    operands: { agent: agent.name, reason },
  });
