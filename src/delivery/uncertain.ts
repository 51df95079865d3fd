/**
 * Tells a sender that one of its messages may or may not have arrived. Most such doubts are settled by a second look
 * within seconds, or when the running turn ends, so the notice waits; if the doubt is settled before the notice is
 * read, the notice is withdrawn.
 */
import type { Mailbox } from "../mailbox/port.ts";
import { userId, userName, switchId, type Agent } from "../model/agent.ts";
import type { Delivery } from "../model/delivery.ts";
import type { AgentId, DeliveryId } from "../model/ids.ts";
import { sealDoubt, type Seal } from "../model/message.ts";
import { systemTimers, type Timers } from "../os/timers.ts";

export interface UncertainParts extends Seal {
  readonly mailbox: Pick<
    Mailbox,
    "onTransitions" | "deliveriesIn" | "delivery" | "message" | "messageWithKey" | "receipt" | "accept" | "cancel"
  >;
  readonly agent: (id: AgentId) => Agent | null;
  readonly report: (context: string, fault: unknown) => void;
  readonly timers?: Pick<Timers, "pause">;
  /** How long a delivery stays uncertain before its sender gets a notice. */
  readonly graceMs?: number;
  /** How long a running turn delays that at most. */
  readonly turnMs?: number;
}

export class UncertainNotices implements AsyncDisposable {
  private readonly stopping = new AbortController();
  private readonly doubts = new Map<DeliveryId, { readonly settled: AbortController; readonly key: string }>();
  private readonly running = new Set<Promise<void>>();
  private stopListening: () => void = () => undefined;

  constructor(private readonly parts: UncertainParts) {}

  start(): void {
    const { mailbox } = this.parts;
    this.stopListening = mailbox.onTransitions((changes) => {
      for (const { transition, delivery } of changes) {
        if (transition.to === "uncertain") this.watch(delivery);
        else if (transition.from === "uncertain") this.run("withdraw a notice", () => this.withdraw(delivery.id));
      }
    });
    for (const delivery of mailbox.deliveriesIn(["uncertain"])) this.watch(delivery);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stopListening();
    this.stopping.abort();
    await Promise.all(this.running);
  }

  private watch({ id, stateAt }: Delivery): void {
    if (this.doubts.has(id)) return;
    const settled = new AbortController();
    const key = `uncertain ${id} since ${stateAt}`;
    this.doubts.set(id, { settled, key });
    this.run("tell a sender that a message is uncertain", () =>
      this.tellLater(id, key, AbortSignal.any([this.stopping.signal, settled.signal])),
    );
  }

  private async tellLater(id: DeliveryId, key: string, signal: AbortSignal): Promise<void> {
    const { mailbox, agent, timers = systemTimers, graceMs = 10_000, turnMs = 600_000 } = this.parts;
    for (let waitedMs = 0; ; waitedMs += graceMs) {
      await timers.pause(graceMs, signal);
      if (signal.aborted) return;
      const delivery = mailbox.delivery(id);
      if (delivery?.state !== "uncertain") return;
      // A message that joined a running turn is read when the model is asked next.
      if (agent(delivery.agent)?.state !== "working" || waitedMs >= turnMs) return this.tell(delivery, key);
    }
  }

  /**
   * Once for each doubt, also after a restart or a repair, which changes the detail of a doubt: the key is the same.
   */
  private async tell(delivery: Delivery, key: string): Promise<void> {
    const { mailbox } = this.parts;
    if (mailbox.messageWithKey(switchId, key) !== null) return;
    const message = mailbox.message(delivery.messageId);
    const notice = message && sealDoubt(message, delivery, key, this.parts);
    if (notice === null) return;
    const { id, name } = message!.from;
    await mailbox.accept(notice, [{ id, name: id === userId ? userName : name }]);
  }

  /** Its sender need not look any more. */
  private async withdraw(id: DeliveryId): Promise<void> {
    const { mailbox } = this.parts;
    const doubt = this.doubts.get(id);
    if (doubt === undefined) return;
    doubt.settled.abort();
    this.doubts.delete(id);
    const notice = mailbox.messageWithKey(switchId, doubt.key);
    const unread = notice && mailbox.receipt(notice.id)?.deliveries.every(({ state }) => state === "queued");
    if (notice && unread) await mailbox.cancel(notice.id);
  }

  private run(what: string, work: () => Promise<void>): void {
    const { report } = this.parts;
    const done = work().catch((fault: unknown) => report(what, fault));
    this.running.add(done);
    void done.finally(() => this.running.delete(done));
  }
}
