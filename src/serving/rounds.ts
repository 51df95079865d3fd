import type { AgentId } from "../model/ids.ts";

/**
 * One round per agent at a time. A request that comes during a round starts another one afterwards, so that no
 * wake is ever lost.
 */
export class Rounds {
  private readonly running = new Map<AgentId, { again: boolean; done: Promise<void> }>();

  constructor(
    private readonly serve: (agent: AgentId) => Promise<void>,
    private readonly failed: (agent: AgentId, fault: unknown) => void,
  ) {}

  ask(agent: AgentId): void {
    const round = this.running.get(agent);
    if (round) round.again = true;
    else this.running.set(agent, { again: false, done: this.run(agent) });
  }

  isServing(agent: AgentId): boolean {
    return this.running.has(agent);
  }

  async finished(): Promise<void> {
    await Promise.all([...this.running.values()].map((round) => round.done));
  }

  private async run(agent: AgentId): Promise<void> {
    await Promise.resolve();
    const round = this.running.get(agent)!;
    do {
      round.again = false;
      await this.serve(agent).catch((fault: unknown) => this.failed(agent, fault));
    } while (round.again);
    this.running.delete(agent);
  }
}
