/**
 * A program whose model does not answer tries again, for minutes or for ever, and writes nothing down meanwhile. While
 * a delivered message waits for the model, its agent is checked now and then, and the receipt says what is found.
 */
import type { Mailbox } from "../mailbox/port.ts";
import type { Agent } from "../model/agent.ts";
import { provesSeen, type Delivery } from "../model/delivery.ts";
import type { AgentId, DeliveryId } from "../model/ids.ts";
import { runForever } from "../os/runForever.ts";
import { systemTimers, type Timers } from "../os/timers.ts";
import type { ModelWatch } from "./outages.ts";

export interface RetriesParts {
  readonly mailbox: Pick<Mailbox, "onTransitions" | "deliveriesIn" | "delivery" | "message" | "note">;
  readonly agent: (id: AgentId) => Agent | null;
  /** Why the agent's program tries again now; null: it does not, undefined: nothing could tell. */
  readonly retrying: (agent: Agent) => Promise<string | null | undefined>;
  readonly model: Pick<ModelWatch, "failed">;
  readonly report: (context: string, fault: unknown) => void;
  readonly timers?: Timers;
  /** How long after a delivery the first check is, and how far apart the others are at most. */
  readonly firstMs?: number;
  readonly slowestMs?: number;
}

export class Retries implements AsyncDisposable {
  private readonly stopping = new AbortController();
  private readonly waiting = new Map<AgentId, Set<DeliveryId>>();
  private readonly checking = new Map<AgentId, Promise<void>>();
  private stopListening: () => void = () => undefined;

  constructor(private readonly parts: RetriesParts) {}

  start(): void {
    const { mailbox } = this.parts;
    this.stopListening = mailbox.onTransitions((changes) => changes.forEach(({ delivery }) => this.consider(delivery)));
    for (const delivery of mailbox.deliveriesIn(["delivered"]))
      if (delivery.notes.some(({ code }) => code === "retrying")) this.consider(delivery);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stopListening();
    this.stopping.abort();
    await Promise.all(this.checking.values());
  }

  private consider({ id, agent, state, proof }: Delivery): void {
    const known = this.waiting.get(agent);
    if (state !== "delivered" || (proof !== null && provesSeen(proof))) {
      known?.delete(id);
      return;
    }
    this.waiting.set(agent, (known ?? new Set()).add(id));
    if (this.checking.has(agent)) return;
    this.checking.set(agent, this.check(agent));
  }

  /** Until nothing waits any more. */
  private async check(id: AgentId): Promise<void> {
    const { firstMs = 3_000, slowestMs = 30_000, report, timers = systemTimers } = this.parts;
    const over = new AbortController();
    const signal = AbortSignal.any([this.stopping.signal, over.signal]);
    let before: string | null = null;
    let ms = firstMs;
    // From here on a new delivery begins a check of its own.
    const end = (): void => {
      this.waiting.delete(id);
      this.checking.delete(id);
      over.abort();
    };
    const step = async (): Promise<void> => {
      await timers.pause(ms, signal);
      ms = Math.min(ms * 1.5, slowestMs);
      const agent = this.waiting.get(id)?.size ? this.parts.agent(id) : null;
      const why = agent && (await this.parts.retrying(agent));
      if (agent === null || why === undefined) return end();
      for (const delivery of [...(this.waiting.get(id) ?? [])]) await this.note(agent, delivery, why, before !== null);
      before = why;
    };
    await runForever("check whether a program reaches its model", signal, step, report, { timers });
  }

  /** One check may catch an error that is over a moment later; the user gets a notice after the second. */
  private async note(agent: Agent, id: DeliveryId, why: string | null, persists: boolean): Promise<void> {
    const { mailbox, model } = this.parts;
    const delivery = mailbox.delivery(id);
    const message = delivery && mailbox.message(delivery.messageId);
    if (delivery?.state !== "delivered" || !message) return;
    await mailbox.note(id, "retrying", why && `the model's API fails: ${why}; ${agent.provider} tries again`);
    if (why !== null && persists) model.failed(agent, why, message);
  }
}
