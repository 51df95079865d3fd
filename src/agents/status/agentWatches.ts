/** One watch for each agent that lives and can be watched, taken up and given up as agents come, change and go. */
import type { Directory } from "../directory/directory.ts";
import { isLive, type Agent } from "../../model/agent.ts";
import type { Event } from "../../model/event.ts";
import type { AgentId } from "../../model/ids.ts";

export interface AgentWatchesParts {
  readonly directory: Pick<Directory, "agent" | "agents">;
  readonly onEvent: (listener: (event: Event) => void) => () => void;
  /** What the watch depends on: another place needs another watch. null: there is nothing to watch. */
  readonly placeOf: (agent: Agent) => string | null;
  readonly watch: (agent: Agent) => Disposable;
}

export class AgentWatches implements Disposable {
  private readonly watched = new Map<AgentId, { readonly place: string; readonly watch: Disposable }>();
  private stopListening: () => void = () => undefined;

  constructor(private readonly parts: AgentWatchesParts) {}

  start(): void {
    this.stopListening = this.parts.onEvent((event) => {
      if (event.type === "agent.registered" || event.type === "agent.changed" || event.type === "agent.removed")
        this.renew(event.agent);
    });
    for (const { id } of this.parts.directory.agents()) this.renew(id);
  }

  [Symbol.dispose](): void {
    this.stopListening();
    for (const { watch } of this.watched.values()) watch[Symbol.dispose]();
  }

  private renew(id: AgentId): void {
    const { directory, placeOf, watch } = this.parts;
    const agent = directory.agent(id);
    const place = agent !== null && isLive(agent) ? placeOf(agent) : null;
    const known = this.watched.get(id);
    if ((known?.place ?? null) === place) return;
    known?.watch[Symbol.dispose]();
    this.watched.delete(id);
    if (agent !== null && place !== null) this.watched.set(id, { place, watch: watch(agent) });
  }
}
