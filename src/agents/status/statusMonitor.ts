/**
 * Keeps the states of the agents current. Nothing is read without a request: a plain question reads what may have
 * changed, at that moment; who attends is served by events until it stops.
 */
import { endpointBy, type Agent } from "../../model/agent.ts";
import type { Event } from "../../model/event.ts";
import type { AgentId } from "../../model/ids.ts";
import { systemTimers, type Scheduled, type Timers } from "../../os/timers.ts";
import type { StatusReader, Refreshed } from "./port.ts";

export interface StatusMonitorParts {
  readonly reader: StatusReader;
  readonly directory: { agent(id: AgentId): Agent | null };
  readonly onEvent: (listener: (event: Event) => void) => () => void;
  readonly report: (context: string, fault: unknown) => void;
  readonly timers?: Pick<Timers, "after" | "every">;
  /** How long a question waits for tmux before it is answered from what is known. */
  readonly patienceMs?: number;
  /** A watcher can fall silent; observers get the current state at least this often. */
  readonly sweepMs?: number;
}

export type WantedAgents = () => readonly Agent[];

export class StatusMonitor implements AsyncDisposable {
  private readonly followed = new Set<WantedAgents>();
  private readonly watched = new Map<AgentId, WatchedAgent>();
  private stopListening: (() => void) | null = null;
  private sweep: Scheduled | null = null;

  constructor(private readonly parts: StatusMonitorParts) {}

  /** Brings what is known of these agents up to date, as far as tmux answers in time. */
  async refresh(agents: readonly Agent[]): Promise<Refreshed> {
    const { reader, timers = systemTimers, patienceMs = 2_000, report } = this.parts;
    const unanswered = new Set(agents.filter((agent) => endpointBy("tmux", agent) !== undefined).map(({ id }) => id));
    const { promise: late, resolve } = Promise.withResolvers<Refreshed>();
    const timer = timers.after(patienceMs, () => resolve({ unread: new Set(), unanswered }));
    const refreshing = reader.refreshAll(agents);
    void late.then(() => refreshing.catch((fault: unknown) => report("read the status of the agents", fault)));
    return Promise.race([refreshing, late]).finally(() => timer.cancel());
  }

  /** Keeps what is known of the wanted agents up to date, those included who come later, until disposed. */
  follow(wanted: WantedAgents): Disposable {
    this.followed.add(wanted);
    this.stopListening ??= this.parts.onEvent((event) => this.onEvent(event));
    const { timers = systemTimers, sweepMs = 30_000 } = this.parts;
    this.sweep ??= timers.every(sweepMs, () => this.lookAgain());
    this.arrange();
    return {
      [Symbol.dispose]: () => {
        if (this.followed.delete(wanted)) this.arrange();
      },
    };
  }

  explain(agent: Agent): ReturnType<StatusReader["explain"]> | null {
    const endpoint = endpointBy("tmux", agent);
    return endpoint === undefined ? null : this.parts.reader.explain(agent, endpoint);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.followed.clear();
    this.arrange();
    await this.parts.reader.close();
  }

  private onEvent({ type, ...event }: Event): void {
    if (type === "agent.registered" || type === "agent.removed") return this.arrange();
    if (type !== "agent.changed" || !("agent" in event)) return;
    const agent = this.parts.directory.agent(event.agent);
    const watched = this.watched.get(event.agent);
    if (agent !== null && watched?.key !== keyOf(agent)) this.arrange();
  }

  /** Watches exactly the agents that are observed, each in the pane that it is in now. */
  private arrange(): void {
    const wanted = new Map([...this.followed].flatMap((agents) => agents()).map((agent) => [agent.id, agent]));
    for (const [id, watched] of this.watched) {
      const agent = wanted.get(id);
      if (agent !== undefined && keyOf(agent) === watched.key) continue;
      watched.stop();
      this.watched.delete(id);
    }
    for (const agent of wanted.values()) {
      if (endpointBy("tmux", agent) !== undefined && !this.watched.has(agent.id))
        this.watched.set(agent.id, this.watch(agent));
    }
    if (this.followed.size > 0) return;
    this.stopListening?.();
    this.stopListening = null;
    this.sweep?.cancel();
    this.sweep = null;
  }

  private lookAgain(): void {
    const agents = [...this.watched.keys()].flatMap((id) => this.parts.directory.agent(id) ?? []);
    void this.refresh(agents).catch((fault: unknown) =>
      this.parts.report("read the status of the agents again", fault),
    );
  }

  private watch(agent: Agent): WatchedAgent {
    const { reader, directory, report } = this.parts;
    const refresh = async (): Promise<void> => {
      const now = directory.agent(agent.id);
      if (now !== null)
        await reader.refresh(now).catch((fault: unknown) => report(`read the status of ${agent.name}`, fault));
    };
    return new WatchedAgent(keyOf(agent), refresh, (changed) =>
      reader.watch(agent, endpointBy("tmux", agent)!, changed),
    );
  }
}

/** One read at a time; a change during a read asks for another one. */
class WatchedAgent {
  private readonly watching: Disposable;
  private reading: Promise<void> | null = null;
  private again = false;

  constructor(
    readonly key: string,
    private readonly refresh: () => Promise<void>,
    watch: (changed: () => void) => Disposable,
  ) {
    this.watching = watch(() => this.changed());
    this.changed();
  }

  stop(): void {
    this.watching[Symbol.dispose]();
    this.again = false;
  }

  private changed(): void {
    this.again = true;
    this.reading ??= this.readUntilCurrent();
  }

  private async readUntilCurrent(): Promise<void> {
    while (this.again) {
      this.again = false;
      await this.refresh();
    }
    this.reading = null;
  }
}

const keyOf = (agent: Agent): string => JSON.stringify(endpointBy("tmux", agent)?.locator ?? null);
