import type { Agent } from "../model/agent.ts";
import type { AgentId } from "../model/ids.ts";
import type { Transport } from "./transports/port.ts";

/** While mail waits for an agent, each of its endpoints tells when it may be ready. */
export class Watches {
  private readonly byAgent = new Map<AgentId, { readonly key: string; readonly watch: Disposable }>();

  constructor(
    private readonly transportOf: (name: string) => Transport,
    private readonly changed: (agent: AgentId) => void,
  ) {}

  get size(): number {
    return this.byAgent.size;
  }

  begin({ id, endpoints, ...agent }: Agent): void {
    const key = JSON.stringify(endpoints);
    if (this.byAgent.get(id)?.key === key) return;
    this.end(id);
    using stack = new DisposableStack();
    for (const endpoint of endpoints) {
      stack.use(
        this.transportOf(endpoint.transport).watch({ id, endpoints, ...agent }, endpoint, () => this.changed(id)),
      );
    }
    this.byAgent.set(id, { key, watch: stack.move() });
  }

  end(id: AgentId): void {
    this.byAgent.get(id)?.watch[Symbol.dispose]();
    this.byAgent.delete(id);
  }

  endAll(): void {
    for (const id of [...this.byAgent.keys()]) this.end(id);
  }
}
