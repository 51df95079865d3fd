import type { Mailbox } from "../mailbox/port.ts";
import { userId, userName, switchId, switchName, type Agent } from "../model/agent.ts";
import type { AgentId } from "../model/ids.ts";
import { seal, type Message, type Seal, type Sender } from "../model/message.ts";

export interface OutagesParts extends Seal {
  readonly mailbox: Pick<Mailbox, "accept">;
  readonly report: (context: string, fault: unknown) => void;
}

/** Observers of an agent's model. */
export interface ModelWatch {
  /** Its API failed with the message in its context, and the program has given up. */
  failed(agent: Agent, error: string, message: Message): void;
  answered(agent: AgentId): void;
}

export const modelFailed = (error: string): string =>
  `the model's API failed: ${error}; the text is in the conversation and goes with the next prompt`;

/**
 * Tells the user when the model of an agent fails with mail in its context: once, until the model has answered again.
 */
export class Outages implements ModelWatch {
  private readonly failing = new Set<AgentId>();

  constructor(private readonly parts: OutagesParts) {}

  failed(agent: Agent, error: string, { tag, summary }: Message): void {
    if (this.failing.has(agent.id)) return;
    this.failing.add(agent.id);
    const { mailbox, report } = this.parts;
    const from: Sender = { id: switchId, name: switchName, team: agent.team, knownBy: "switch" };
    const body = [
      `${agent.team}:${agent.name} cannot reach its model: ${error}`,
      `${tag} (${summary}) is in its conversation and goes with its next prompt · details: tieline status ${tag}`,
    ].join("\n");
    const notice = seal({ to: userName, body, kind: "bounce" }, from, { inReplyTo: null, hops: 0 }, this.parts);
    mailbox
      .accept(notice, [{ id: userId, name: userName }])
      .catch((fault: unknown) => report(`tell the user that the model of ${agent.name} fails`, fault));
  }

  answered(agent: AgentId): void {
    this.failing.delete(agent);
  }
}
