/**
 * What agents write without calling us, as files or as text in their output: it becomes a draft with the identity of
 * where it came from, and goes through the same router as everything else.
 */
import type { Mailbox } from "../mailbox/port.ts";
import { userId, switchId, switchName, type Agent } from "../model/agent.ts";
import type { AgentId } from "../model/ids.ts";
import { asTielineError, TielineError } from "../model/errors.ts";
import {
  replyAddress,
  seal,
  type Draft,
  type IdentityProof,
  type Message,
  type Seal,
  type Sender,
} from "../model/message.ts";
import type { Router } from "../routing/router.ts";
import type { OutboxEntry } from "./outbox/parse.ts";
import { systemTimers, type Timers } from "../os/timers.ts";

export interface SubmissionsParts extends Seal {
  readonly mailbox: Pick<Mailbox, "accept" | "message" | "messageWithKey" | "receipt" | "inbox">;
  readonly router: Router;
  /** Whether a bounce, which starts no turn, reaches the agent. */
  readonly getsNotices: (agent: Agent) => boolean;
  readonly report: (context: string, fault: unknown) => void;
  readonly timers?: Pick<Timers, "after">;
}

/** A program that answers notices with what is refused again would never stop. */
const mostInARow = 8;

export interface Marker {
  /** A name, or `@all`. */
  readonly to: string;
  readonly content: string;
}

/** What is only logged is summed up after this time. */
const sumUpMs = 60_000;

export class Submissions {
  private readonly withheld = new Map<AgentId, number>();
  /** Notices that are on their way to the disk. */
  private readonly underway = new Map<AgentId, number>();

  constructor(private readonly parts: SubmissionsParts) {}

  /** Resolves when the message is stored, also when it was before. Rejects with why it is refused. */
  async fromOutbox(agent: Agent, entry: OutboxEntry, key: string): Promise<void> {
    const idempotencyKey = outboxKey(key, entry.id);
    if (this.isKnown(agent, idempotencyKey)) return;
    const draft = { body: entry.content, idempotencyKey, ...(entry.when && { when: entry.when }) };
    if ("broadcast" in entry) return this.send(agent, { to: "@all", ...draft }, "workspace");
    const original = entry.replyTo === undefined ? null : this.received(agent, entry.replyTo);
    const to = original !== null && means(entry.to, original) ? replyAddress(original) : entry.to;
    await this.send(agent, { to, ...draft, ...(original && { inReplyTo: original.id }) }, "workspace");
  }

  /** As above; for a permanent refusal the agent gets a notice, because there is no file to put a reason beside. */
  async fromText(agent: Agent, { to, content }: Marker, key: string): Promise<void> {
    const idempotencyKey = `text:${key}`;
    if (this.isKnown(agent, idempotencyKey)) return;
    try {
      await this.send(agent, { to, body: content, idempotencyKey }, "stream");
    } catch (thrown) {
      const refusal = asTielineError(thrown);
      if (refusal.type !== "permanent") throw refusal;
      await this.tell(agent, `your message to ${to} was not sent: ${refusal.message}. ${refusal.remedy}`);
    }
  }

  /**
   * Something that an agent wanted sent was not. The notice is a bounce, which starts no turn, or as text where a
   * bounce would never be read; after some of these with no other mail between them only the log tells how many there
   * were.
   */
  async tell(agent: Agent, text: string): Promise<void> {
    const { mailbox, getsNotices } = this.parts;
    const before = mailbox.inbox(agent.id, { limit: mostInARow });
    const inARow = before.toReversed().findIndex(({ message }) => message.from.id !== switchId);
    const underway = this.underway.get(agent.id) ?? 0;
    const told = (inARow < 0 ? before.length : inARow) + underway;
    if (told >= mostInARow) return this.withhold(agent, text);
    this.log(agent, `${text} The agent got a notice.`);
    const more = told === mostInARow - 1 ? " You are not told of others like this before other mail has come." : "";
    const from: Sender = { id: switchId, name: switchName, team: agent.team, knownBy: "switch" };
    const kind = getsNotices(agent) ? "bounce" : "text";
    this.underway.set(agent.id, underway + 1);
    try {
      const draft = { to: agent.name, body: `${text}${more}`, kind } as const;
      await mailbox.accept(seal(draft, from, { inReplyTo: null, hops: 0 }, this.parts), [agent]);
    } finally {
      this.underway.set(agent.id, this.underway.get(agent.id)! - 1);
    }
  }

  private withhold(agent: Agent, text: string): void {
    const withheld = this.withheld.get(agent.id);
    this.withheld.set(agent.id, (withheld ?? 0) + 1);
    if (withheld !== undefined) return;
    this.log(agent, `${text} The agent was not told: its last ${mostInARow} messages were notices.`);
    const sumUp = (): void => {
      const more = this.withheld.get(agent.id)! - 1;
      this.withheld.delete(agent.id);
      if (more > 0) this.log(agent, `${more} more messages were not sent within a minute, and the agent was not told.`);
    };
    (this.parts.timers ?? systemTimers).after(sumUpMs, sumUp, { background: true });
  }

  private log({ team, name }: Agent, text: string): void {
    this.parts.report(
      `written by ${team}:${name}`,
      new TielineError("USAGE", text, { remedy: "correct the address, or the edges of the topology" }),
    );
  }

  private isKnown({ id }: Agent, key: string): boolean {
    return this.parts.mailbox.messageWithKey(id, key) !== null;
  }

  /** `@name` means a group where there is one of that name, and else the agent. */
  private async send({ id, name, team }: Agent, draft: Draft, knownBy: IdentityProof): Promise<void> {
    const sender: Sender = { id, name, team, knownBy };
    try {
      await this.parts.router.send(draft, sender);
    } catch (thrown) {
      const isGroup = draft.to.startsWith("@") && draft.to !== "@all";
      if (!isGroup || asTielineError(thrown).code !== "ADDRESS_UNKNOWN") throw thrown;
      await this.parts.router.send({ ...draft, to: draft.to.slice(1) }, sender);
    }
  }

  private received(agent: Agent, reference: string): Message {
    const receipt = this.parts.mailbox.receipt(reference);
    if (receipt?.deliveries.some((delivery) => delivery.agent === agent.id)) return receipt.message;
    throw new TielineError("MESSAGE_UNKNOWN", `${agent.name} got no message ${reference}`, {
      remedy: "`swarm-msg inbox --all` shows what can be answered",
      operands: { message: reference },
    });
  }
}

const outboxKey = (key: string, own: string | undefined): string =>
  `outbox:${key}${own === undefined ? "" : `#${own}`}`;

/**
 * The name that an agent gave its message in the outbox file. It travels in the key, and so is stored with the message.
 */
export function ownIdOf({ idempotencyKey }: Message): string | null {
  if (!idempotencyKey?.startsWith("outbox:")) return null;
  const mark = idempotencyKey.indexOf("#");
  return mark < 0 ? null : idempotencyKey.slice(mark + 1);
}

/** The sender as its reader sees it, in a file of that reader's team. */
export function senderName({ from }: Message, team: string): string {
  return from.id === userId || from.id === switchId || from.team === team ? from.name : `${from.team}:${from.name}`;
}

const means = (to: string, { from }: Message): boolean =>
  [from.name, `@${from.name}`, `${from.team}:${from.name}`].includes(to);
