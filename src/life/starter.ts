import type { HomeConfig } from "../config/home.ts";
import type { Courier } from "../courier.ts";
import type { Directory } from "../directory/directory.ts";
import type { Lookups } from "../addressing/rules.ts";
import type { Agent } from "../model/agent.ts";
import type { HoldReason } from "../model/delivery.ts";
import { TielineError } from "../model/errors.ts";
import type { Processes } from "../tmux/process.ts";
import type { TmuxTransport } from "../transports/tmux/transport.ts";
import type { TmuxServers } from "./servers.ts";
import { start } from "./start.ts";

export interface AgentStarterParts {
  readonly directory: Directory;
  readonly lookups: Lookups;
  readonly servers: TmuxServers;
  readonly processes: Processes;
  readonly config: HomeConfig;
  readonly courier: Courier;
  readonly tmux: Pick<TmuxTransport, "probe" | "watch">;
  readonly options: { readonly root: string; readonly binDirectory: string; readonly tmuxSocket: string; readonly env: Readonly<Record<string, string>> };
}

/** Starts agents from their profiles and waits until they can be written to. */
export class AgentStarter {
  constructor(private readonly parts: AgentStarterParts) {}

  /** Resolves when the agent is ready, or when it is still starting after the time that it is given. */
  async start(agent: Agent, socket: string = this.parts.options.tmuxSocket): Promise<Agent> {
    const { directory, lookups, servers, config, courier, options, processes } = this.parts;
    const profile = lookups.profile(agent.team, agent.launch?.profile ?? agent.profile ?? agent.name);
    if (profile === null) throw noProfile(agent);
    const started = await start(servers.at(socket), directory.add(agent), profile, {
      directory,
      processes,
      config,
      home: options.root,
      binDirectory: options.binDirectory,
      path: options.env["PATH"] ?? "",
    });
    await this.untilReady(started);
    courier.wake(started.id);
    return directory.agent(started.id) ?? started;
  }

  /** A dialog counts as ready: only a person can go on from there, and its mail says what it waits for. */
  private async untilReady(agent: Agent): Promise<void> {
    const { tmux, config } = this.parts;
    const endpoint = agent.endpoints[0]!;
    const deadline = AbortSignal.timeout(config.spawn.readyTimeoutMs);
    const changes = new Pulse();
    using _ = tmux.watch(agent, endpoint, () => changes.beat());
    while (!deadline.aborted) {
      const readiness = await tmux.probe(agent, endpoint);
      if (readiness.kind === "gone") throw endedAtOnce(agent, readiness.detail);
      if (readiness.kind === "ready" || !startsUp.has(readiness.hold.reason)) return;
      await changes.next(readiness.againInMs ?? config.delivery.pollIntervalMs);
    }
  }
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
