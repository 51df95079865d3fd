/**
 * Bounces and acks wake no agent, and an object cannot look for them: they are taken one at a time, however many come
 * at once.
 */
import type { AgentId } from "../model/ids.ts";
import type { Message } from "../model/message.ts";
import { singleFlight } from "../os/singleFlight.ts";
import type { Mailbox } from "../mailbox/port.ts";

export interface NoticesParts {
  readonly mailbox: Pick<Mailbox, "inbox" | "read">;
  readonly transport: string;
  readonly read: (object: AgentId, message: Message) => void;
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
    const { mailbox, transport, read } = this.parts;
    for (;;) {
      let taken = 0;
      for (const { message, delivery } of mailbox.inbox(agent, {
        pending: true,
        wakes: false,
        oldest: true,
        limit: batch,
      })) {
        if (delivery.state !== "queued") continue;
        if ((await mailbox.read(delivery.id, { transport, authority: "peer" })) === null) continue;
        read(agent, message);
        taken++;
      }
      if (taken === 0) return;
    }
  }
}
