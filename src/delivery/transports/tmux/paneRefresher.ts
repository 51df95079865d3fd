/**
 * Reads many agents at once. One cheap list per tmux server tells which panes are there and when their windows last
 * printed something; only a pane that may have changed since it was last read is read again. Who asks waits for the
 * list and for a few panes; a crowd is read afterwards, the liveliest first, for the next caller.
 */
import type { Agent } from "../../../model/agent.ts";
import { asTielineError } from "../../../model/errors.ts";
import type { AgentId, Clock } from "../../../model/ids.ts";
import type { Refreshed } from "../../../agents/status/port.ts";
import { isSilence } from "../../../tmux/failure.ts";
import { listPaneActivity, type PaneListing } from "../../../tmux/pane.ts";
import type { TmuxServer } from "../../../tmux/server.ts";
import { type PaneLocator, tmuxEndpoint } from "../paneEndpoint.ts";
import { whyNotItsPane, type Observed } from "./paneStatus.ts";

export interface PaneRefresherParts {
  readonly server: (socket: string) => TmuxServer;
  /** What is known of an agent now. */
  readonly agent: (id: AgentId) => Agent | null;
  /** Reads the panes of these agents, all on one server, and tells what was seen. */
  readonly read: (agents: readonly Agent[]) => Promise<void>;
  readonly observed: Observed;
  readonly report: (context: string, fault: unknown) => void;
  /** Whether a process still runs; cheap, and perhaps wrong about one that waits to be reaped. */
  readonly exists: (pid: number) => boolean;
  readonly clock: Clock;
}

/** What a reading rests on: while it holds, reading again gives the same. */
interface ReadBasis {
  readonly locator: PaneLocator;
  readonly state: Agent["state"];
  readonly readAt: number;
}

type Listed = ReadonlyMap<string, PaneListing> | { readonly unavailable: string };

/** tmux did not answer: what is known of its panes stays as it is. */
const silent = Symbol("silent");

interface Stale {
  readonly agent: Agent;
  readonly locator: PaneLocator;
  readonly printedAt: number;
}

/** tmux takes half a millisecond to print one screen; callers wait for no more than this many. */
const atOnce = 24;

export class PaneRefresher {
  private readonly readings = new Map<AgentId, ReadBasis>();
  private readonly backlog = new Map<AgentId, Stale>();
  private working: Promise<void> | null = null;

  constructor(private readonly parts: PaneRefresherParts) {}

  async refresh(agents: readonly Agent[]): Promise<Refreshed> {
    const inPanes = agents.flatMap((agent) => {
      const endpoint = agent.endpoints.find(({ transport }) => transport === "tmux");
      return endpoint ? [{ agent, locator: tmuxEndpoint.locatorOf(endpoint) }] : [];
    });
    const bySocket = Map.groupBy(inPanes, ({ locator }) => locator.socket);
    const unanswered = new Set<AgentId>();
    const later = await Promise.all(
      [...bySocket].map(async ([socket, there]) => {
        const listed = await this.list(socket);
        if (listed === silent) {
          for (const { agent } of there) unanswered.add(agent.id);
          return [];
        }
        const stale = there.flatMap(({ agent, locator }) => this.staleness(agent, locator, listed) ?? []);
        if (stale.length > atOnce) return stale.toSorted((a, b) => b.printedAt - a.printedAt);
        await this.read(stale);
        return [];
      }),
    );
    for (const one of later.flat()) this.backlog.set(one.agent.id, one);
    this.working ??= this.workOff();
    return { unread: new Set(later.flat().map(({ agent }) => agent.id)), unanswered };
  }

  /** Reads nothing more; resolves when nothing is under way. */
  async close(): Promise<void> {
    this.backlog.clear();
    await this.working;
  }

  private async workOff(): Promise<void> {
    while (this.backlog.size > 0) {
      const socket = this.backlog.values().next().value!.locator.socket;
      const next = [...this.backlog.values()].filter(({ locator }) => locator.socket === socket).slice(0, atOnce);
      for (const { agent } of next) this.backlog.delete(agent.id);
      await this.read(next).catch((fault: unknown) => this.parts.report("read the panes of the agents", fault));
    }
    this.working = null;
  }

  /** Agents whose panes are all on one server. */
  private async read(stale: readonly Stale[]): Promise<void> {
    const now = stale.flatMap(({ agent }) => this.parts.agent(agent.id) ?? []);
    if (now.length === 0) return;
    const readAt = this.parts.clock();
    try {
      await this.parts.read(now);
    } catch (thrown) {
      const { code, message } = asTielineError(thrown);
      if (isSilence(thrown)) return;
      if (code !== "TMUX_UNAVAILABLE") throw thrown;
      for (const agent of now) this.parts.observed(agent, { state: "gone", reason: message, draft: false });
      return;
    }
    for (const { agent, locator } of stale) {
      this.readings.set(agent.id, { locator, readAt, state: this.parts.agent(agent.id)?.state ?? agent.state });
    }
  }

  private async list(socket: string): Promise<Listed | typeof silent> {
    try {
      return await listPaneActivity(this.parts.server(socket));
    } catch (thrown) {
      if (isSilence(thrown)) return silent;
      const { code, message } = asTielineError(thrown);
      if (code === "TMUX_UNAVAILABLE") return { unavailable: message };
      throw thrown;
    }
  }

  /**
   * What the list alone tells is reported at once: a pane that is missing or no longer the agent's needs no reading.
   */
  private staleness(agent: Agent, locator: PaneLocator, listed: Listed): Stale | null {
    const listing = "unavailable" in listed ? undefined : listed.get(locator.pane);
    const gone = "unavailable" in listed ? listed.unavailable : whyGone(locator, listing);
    if (gone !== null) {
      this.parts.observed(agent, { state: "gone", reason: gone, draft: false });
      return null;
    }
    return this.isFresh(agent, locator, listing!) ? null : { agent, locator, printedAt: listing!.windowActivityAt };
  }

  private isFresh({ id, state }: Agent, locator: PaneLocator, listing: PaneListing): boolean {
    const reading = this.readings.get(id);
    if (reading === undefined || reading.locator !== locator || reading.state !== state) return false;
    if (state !== "done" && (listing.dead || !this.parts.exists(locator.agentPid))) return false;
    // tmux knows the second of the last output; what was read within that second may be older than the output.
    return reading.readAt >= listing.windowActivityAt + 1_000;
  }
}

const whyGone = (locator: PaneLocator, listing: PaneListing | undefined): string | null =>
  listing === undefined ? `pane ${locator.pane} is closed` : whyNotItsPane(locator, listing);
