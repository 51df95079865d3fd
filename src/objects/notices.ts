/**
 * Bounces and acks wake no agent, and an object cannot look for them: they are taken one at a time, however many come
 * at once.
 */
import { systemClock, type AgentId, type Clock } from "../model/ids.ts";
import type { Message } from "../model/message.ts";
import { singleFlight } from "../os/singleFlight.ts";
import type { Mailbox } from "../mailbox/port.ts";

export interface NoticesParts {
  readonly mailbox: Pick<Mailbox, "inbox" | "claim" | "settle">;
  readonly transport: string;
  readonly read: (object: AgentId, message: Message) => void;
  readonly clock?: Clock;
}

const batch = 50;

export class Notices {
  private readonly passes = new Map<AgentId, () => Promise<void>>();

  constructor(private readonly parts: NoticesParts) {}

  /** Resolves when what waited at the time of the call is read. */
  take(agent: AgentId): Promise<void> {
    let pass = this.passes.get(agent);
    if (pass === undefined) this.passes.set(agent, (pass = singleFlight(() => this.pass(agent))));
    return pass();
  }

  private async pass(agent: AgentId): Promise<void> {
    const { mailbox, transport, read, clock = systemClock } = this.parts;
    for (;;) {
      let taken = 0;
      for (const { message, delivery } of mailbox.inbox(agent, {
        pending: true,
        wakes: false,
        oldest: true,
        limit: batch,
      })) {
        if (delivery.state !== "queued") continue;
        if ((await mailbox.claim(delivery.id, { lane: "pull", now: clock(), transport })) === null) continue;
        read(agent, message);
        await mailbox.settle(delivery.id, { kind: "delivered", proof: "written" }, { transport, authority: "peer" });
        taken++;
      }
      if (taken === 0) return;
    }
  }
}
