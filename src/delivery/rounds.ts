import type { AgentId } from "../model/ids.ts";
import { complainRarely } from "../os/runForever.ts";
import type { Timers } from "../os/timers.ts";

/**
 * One round per agent at a time. A request that comes during a round starts another one afterwards, so that no
 * wake is ever lost.
 */
export class Rounds {
  private readonly complaints = new Map<AgentId, (fault: unknown) => void>();
  private readonly running = new Map<AgentId, { again: boolean; done: Promise<void> }>();

  constructor(
    private readonly serve: (agent: AgentId) => Promise<void>,
    private readonly report: (context: string, fault: unknown) => void,
    /**
     * What kept a round from its work (no file descriptors, a full disk) may be over soon, and nothing else tells when.
     */
    private readonly later: (agent: AgentId) => void,
    private readonly timers: Pick<Timers, "elapsed">,
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

  private failed(agent: AgentId, fault: unknown): void {
    let complain = this.complaints.get(agent);
    if (complain === undefined) {
      complain = complainRarely(`serve ${agent}`, this.report, { timers: this.timers });
      this.complaints.set(agent, complain);
    }
    complain(fault);
    this.later(agent);
  }
}
