/**
 * Many agents at one glance. One cheap list per tmux server tells which panes are there and when their windows last
 * printed something; only a pane that may have changed since it was last read is read again.
 */
import type { Agent } from "../../model/agent.ts";
import { asTielineError } from "../../model/errors.ts";
import type { AgentId, Clock } from "../../model/ids.ts";
import { glancePanes, type Glance } from "../../tmux/pane.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import { paneLocator, type PaneLocator } from "../paneLocator.ts";
import type { Observed } from "./sight.ts";

export interface SurveyParts {
  readonly server: (socket: string) => TmuxServer;
  /** What is known of an agent now. */
  readonly agent: (id: AgentId) => Agent | null;
  /** Reads the panes of these agents, all on one server, and tells what was seen. */
  readonly read: (agents: readonly Agent[]) => Promise<void>;
  readonly observed: Observed;
  /** Whether a process still runs; cheap, and perhaps wrong about one that waits to be reaped. */
  readonly exists: (pid: number) => boolean;
  readonly clock: Clock;
}

/** What a reading rests on: while all of it holds, reading again would tell the same. */
interface Reading {
  readonly locator: PaneLocator;
  readonly state: Agent["state"];
  readonly readAt: number;
}

type Listed = ReadonlyMap<string, Glance> | { readonly unavailable: string };

export class Survey {
  private readonly readings = new Map<AgentId, Reading>();

  constructor(private readonly parts: SurveyParts) {}

  async of(agents: readonly Agent[]): Promise<void> {
    const inPanes = agents.flatMap((agent) => {
      const endpoint = agent.endpoints.find(({ transport }) => transport === "tmux");
      return endpoint ? [{ agent, locator: paneLocator(endpoint) }] : [];
    });
    const bySocket = Map.groupBy(inPanes, ({ locator }) => locator.socket);
    await Promise.all(
      [...bySocket].map(async ([socket, there]) => {
        const listed = await this.list(socket);
        await this.read(there.filter(({ agent, locator }) => this.mustBeRead(agent, locator, listed)));
      }),
    );
  }

  private async read(stale: readonly { agent: Agent; locator: PaneLocator }[]): Promise<void> {
    if (stale.length === 0) return;
    const readAt = this.parts.clock();
    await this.parts.read(stale.map(({ agent }) => agent));
    for (const { agent, locator } of stale) {
      this.readings.set(agent.id, { locator, readAt, state: this.parts.agent(agent.id)?.state ?? agent.state });
    }
  }

  private async list(socket: string): Promise<Listed> {
    try {
      return await glancePanes(this.parts.server(socket));
    } catch (thrown) {
      const { code, message } = asTielineError(thrown);
      if (code === "TMUX_UNAVAILABLE") return { unavailable: message };
      throw thrown;
    }
  }

  /** What the list alone tells is told at once: a pane that is not there needs no reading. */
  private mustBeRead(agent: Agent, locator: PaneLocator, listed: Listed): boolean {
    const glance = "unavailable" in listed ? undefined : listed.get(locator.pane);
    if (glance !== undefined) return !this.isFresh(agent, locator, glance);
    const reason = "unavailable" in listed ? listed.unavailable : `pane ${locator.pane} is closed`;
    this.parts.observed(agent, { state: "gone", reason, draft: false });
    return false;
  }

  private isFresh({ id, state }: Agent, locator: PaneLocator, glance: Glance): boolean {
    const reading = this.readings.get(id);
    if (reading === undefined || reading.locator !== locator || reading.state !== state) return false;
    if (glance.pid !== locator.panePid || glance.serverPid !== locator.serverPid || glance.dead) return false;
    if (!this.parts.exists(locator.agentPid)) return false;
    // tmux knows the second of the last output; what was read within that second may be older than the output.
    return reading.readAt >= glance.windowActivityAt + 1_000;
  }
}
