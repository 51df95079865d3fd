/** The names on the borders: who lives in a pane, what it does, and what mail waits for it. */
import { endpointBy, isLive, type Agent } from "../../model/agent.ts";
import { asTielineError } from "../../model/errors.ts";
import type { Event } from "../../model/event.ts";
import type { AgentId } from "../../model/ids.ts";
import { oneLine } from "../../model/visible.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import { tmuxEndpoint } from "../../delivery/transports/paneEndpoint.ts";
import { systemTimers, type Scheduled, type Timers } from "../../os/timers.ts";

/** tmux shows the option of each pane. */
const labelOption = "@tieline_label";
const borderFormat = `#{?${labelOption}, #{${labelOption}} ,}`;

/** Shows the borders in the window of a pane. Only where we put the window there, or were asked to. */
export async function showBorders(server: TmuxServer, pane: string): Promise<void> {
  await server.run([
    ["set-option", "-w", "-t", pane, "pane-border-status", "top"],
    ["set-option", "-w", "-t", pane, "pane-border-format", borderFormat],
  ]);
}

export interface BorderParts {
  readonly server: (socket: string) => TmuxServer;
  readonly agent: (id: AgentId) => Agent | null;
  readonly pending: (id: AgentId) => number;
  readonly onEvent: (listener: (event: Event) => void) => () => void;
  readonly report: (context: string, fault: unknown) => void;
  readonly timers?: Pick<Timers, "after">;
}

/** Events come in crowds; the borders follow this much later. */
const momentMs = 20;

/** Keeps the label of every pane that we started true, by events. */
export class Borders implements AsyncDisposable {
  private readonly labels = new Map<string, string>();
  private readonly due = new Set<AgentId>();
  private readonly stopListening: () => void;
  private timer: Scheduled | null = null;
  private writing: Promise<void> = Promise.resolve();

  constructor(private readonly parts: BorderParts) {
    this.stopListening = parts.onEvent((event) => {
      if ("agent" in event) this.ask(event.agent);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stopListening();
    this.timer?.cancel();
    await this.writing;
  }

  private ask(agent: AgentId): void {
    this.due.add(agent);
    this.timer ??= (this.parts.timers ?? systemTimers).after(momentMs, () => {
      this.timer = null;
      const agents = [...this.due];
      this.due.clear();
      this.writing = this.writing.then(() => this.write(agents));
    });
  }

  private async write(ids: readonly AgentId[]): Promise<void> {
    for (const id of ids) {
      const agent = this.parts.agent(id);
      if (agent === null || agent.launch === null || !isLive(agent)) continue;
      await this.label(agent).catch((fault: unknown) => {
        // The pane or its server ended meanwhile; then there is no border to write on.
        if (!["PANE_UNKNOWN", "TMUX_UNAVAILABLE"].includes(asTielineError(fault).code))
          this.parts.report(`border of ${agent.name}`, fault);
      });
    }
  }

  private async label(agent: Agent): Promise<void> {
    const endpoint = endpointBy("tmux", agent);
    if (endpoint === undefined) return;
    const { socket, serverPid, pane } = tmuxEndpoint.locatorOf(endpoint);
    const label = labelOf(agent, this.parts.pending(agent.id));
    const key = `${socket} ${serverPid} ${pane}`;
    const known = this.labels.get(key);
    if (known === label) return;
    const server = this.parts.server(socket);
    await server.run([["set-option", "-p", "-t", pane, labelOption, label]]);
    if (known === undefined) await showBorders(server, pane);
    this.labels.set(key, label);
  }
}

/** One line of plain text: tmux would take what follows a `#` for a style. */
export function labelOf({ name, state, draft }: Pick<Agent, "name" | "state" | "draft">, pending: number): string {
  const words = [name, draft ? `${state}, draft` : state, ...(pending > 0 ? [`${pending} mail`] : [])];
  return oneLine(words.join(" · ")).replaceAll("#", "##");
}
