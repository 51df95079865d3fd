/** Starts agents for which mail waits. It watches the mailbox; sending knows nothing of it. */
import type { Agent } from "../model/agent.ts";
import { canStart } from "../model/agent.ts";
import { asTielineError, TielineError } from "../model/errors.ts";
import { systemClock, type AgentId, type Clock } from "../model/ids.ts";
import type { Mailbox } from "../mailbox/port.ts";

export interface SpawnerParts {
  readonly mailbox: Pick<Mailbox, "onTransitions" | "waiting" | "heads" | "message">;
  readonly agent: (id: AgentId) => Agent | null;
  readonly start: (agent: Agent) => Promise<void>;
  readonly failed: (agent: Agent, error: TielineError) => void;
  readonly perMinute: number;
  readonly clock?: Clock;
}

const minuteMs = 60_000;
/** Waits after the first, second, … failed or short-lived start. */
const backoffMs = [1_000, 5_000, 15_000, 60_000];

export class Spawner implements Disposable {
  private readonly running = new Map<AgentId, Promise<void>>();
  private readonly failures = new Map<AgentId, { count: number; notBefore: number }>();
  private readonly timers = new Set<Timer>();
  private startedAt: number[] = [];
  private stopListening: () => void = () => undefined;

  constructor(private readonly parts: SpawnerParts) {}

  start(): void {
    this.stopListening = this.parts.mailbox.onTransitions((changes) => {
      for (const { transition, delivery, message } of changes) {
        if (transition.to === "queued" && message.starts) this.consider(delivery.agent);
      }
    });
    for (const agent of this.parts.mailbox.waiting()) this.considerWaiting(agent);
  }

  [Symbol.dispose](): void {
    this.stopListening();
    for (const timer of this.timers) clearTimeout(timer);
  }

  /** One start for any number of waiting messages. */
  private consider(id: AgentId): void {
    const agent = this.parts.agent(id);
    if (agent === null || !canStart(agent) || this.running.has(id)) return;
    const waitMs = Math.max(this.backoffLeft(id), this.limitLeft());
    if (waitMs > 0) {
      const error = new TielineError("SPAWN_FAILED", `${agent.name} is started again in ${Math.ceil(waitMs / 1_000)} s`, {
        remedy: "`tieline doctor` and the agent's pane show why it ended",
      });
      this.parts.failed(agent, error);
      this.later(waitMs, () => this.considerWaiting(id));
      return;
    }
    this.startedAt.push(this.now());
    this.running.set(id, this.run(agent));
  }

  private considerWaiting(id: AgentId): void {
    const heads = this.parts.mailbox.heads(id, this.now());
    if (heads.some((head) => this.parts.mailbox.message(head.messageId)?.starts)) this.consider(id);
  }

  private async run(agent: Agent): Promise<void> {
    try {
      await this.parts.start(agent);
      this.failures.delete(agent.id);
    } catch (thrown) {
      const count = (this.failures.get(agent.id)?.count ?? 0) + 1;
      const pauseMs = backoffMs[Math.min(count, backoffMs.length) - 1]!;
      this.failures.set(agent.id, { count, notBefore: this.now() + pauseMs });
      this.parts.failed(agent, asTielineError(thrown));
      this.later(pauseMs, () => this.considerWaiting(agent.id));
    } finally {
      this.running.delete(agent.id);
    }
  }

  private backoffLeft(id: AgentId): number {
    return Math.max(0, (this.failures.get(id)?.notBefore ?? 0) - this.now());
  }

  private limitLeft(): number {
    const now = this.now();
    this.startedAt = this.startedAt.filter((at) => at > now - minuteMs);
    return this.startedAt.length < this.parts.perMinute ? 0 : this.startedAt[0]! + minuteMs - now;
  }

  private later(ms: number, run: () => void): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      run();
    }, ms);
    this.timers.add(timer);
  }

  private now(): number {
    return (this.parts.clock ?? systemClock)();
  }
}
