import { createCourier, type Collected, type Courier, type CourierParts } from "../delivery/courier.ts";
import { openMailbox } from "../mailbox/mailbox.ts";
import { memoryStore } from "../mailbox/memory/store.ts";
import type { Mailbox } from "../mailbox/port.ts";
import type { Delivery, Transition } from "../model/delivery.ts";
import { seal, type Draft, type Sender } from "../model/message.ts";
import type { Readiness } from "../delivery/transports/port.ts";
import { anAgent } from "./agents.ts";
import { user } from "./mailboxContract.ts";
import { PlayedTransport } from "./playedTransport.ts";

export const bob = anAgent({ name: "bob" });
export const busy: Readiness = { kind: "held", hold: { reason: "busy", detail: "bob is working" } };

/** A courier with a mailbox in memory, and one agent, bob, whose transport the test plays. */
export class CourierPost implements AsyncDisposable {
  readonly mailbox: Mailbox = openMailbox(memoryStore());
  readonly transport = new PlayedTransport();
  readonly faults: string[] = [];
  readonly courier: Courier;
  /** How far the courier's clock is ahead. */
  lateMs = 0;

  constructor(parts: Partial<CourierParts> = {}) {
    this.courier = createCourier({
      mailbox: this.mailbox,
      transports: new Map([["tmux", this.transport]]),
      agent: (id) => (id === bob.id ? bob : null),
      report: (context) => this.faults.push(context),
      retryMs: 1,
      clock: () => Date.now() + this.lateMs,
      ...parts,
    });
  }

  send(body: string, draft: Partial<Draft> = {}): Promise<Delivery> {
    return this.sendAs(user, body, draft);
  }

  async sendAs(from: Sender, body: string, draft: Partial<Draft> = {}): Promise<Delivery> {
    const message = seal({ to: "bob", body, ...draft }, from, { inReplyTo: null, hops: 0 });
    return (await this.mailbox.accept(message, [bob])).deliveries[0]!;
  }

  collect(transport = "hook"): Promise<Collected> {
    return this.courier.collect(bob, { transport, authority: "peer" });
  }

  bodies({ items }: Collected): string[] {
    return items.map(({ message }) => message.body);
  }

  delivery({ id }: Delivery): Delivery {
    return this.mailbox.delivery(id)!;
  }

  history({ id, messageId }: Delivery): readonly Transition[] {
    return this.mailbox.history(messageId)!.steps.get(id)!;
  }

  /** As soon as it satisfies. */
  until(delivery: Delivery, satisfies: (now: Delivery) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): boolean => satisfies(this.delivery(delivery));
      if (check()) return resolve();
      const stop = this.mailbox.onTransitions(() => {
        if (!check()) return;
        stop();
        resolve();
      });
    });
  }

  becomes(delivery: Delivery, wanted: Delivery["state"]): Promise<void> {
    return this.until(delivery, ({ state }) => state === wanted);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.courier[Symbol.asyncDispose]();
    if (this.transport.watchers > 0) throw new Error("an endpoint is still watched");
  }
}
