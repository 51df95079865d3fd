import { openStates, type Delivery, type Transition } from "../model/delivery.ts";
import type { AgentId } from "../model/ids.ts";
import type { Store } from "./store.ts";

/** Queued and open deliveries per agent, kept beside the store so that a long history costs nothing. */
export class Counts {
  private readonly byAgent = new Map<AgentId, { queued: number; open: number }>();

  constructor(store: Pick<Store, "counts">) {
    for (const { agent, queued, open } of store.counts()) this.byAgent.set(agent, { queued, open });
  }

  apply({ from, to }: Transition, { agent }: Delivery): void {
    const count = this.byAgent.get(agent) ?? { queued: 0, open: 0 };
    count.queued += Number(to === "queued") - Number(from === "queued");
    count.open += Number(openStates.includes(to)) - Number(from !== null && openStates.includes(from));
    if (count.open === 0) this.byAgent.delete(agent);
    else this.byAgent.set(agent, count);
  }

  queued(agent: AgentId): number {
    return this.byAgent.get(agent)?.queued ?? 0;
  }

  open(agent: AgentId): number {
    return this.byAgent.get(agent)?.open ?? 0;
  }

  waiting(): AgentId[] {
    return [...this.byAgent].filter(([, count]) => count.queued > 0).map(([agent]) => agent);
  }
}
