/**
 * The workspaces of all agents: what lies in an outbox or is written to a log is sent, what is delivered is also
 * written to the inbox, and the list of whom an agent can write to is kept true.
 */
import type { Documents } from "../directory/documents/port.ts";
import type { Change, Mailbox } from "../mailbox/port.ts";
import { personId, switchId, type Agent } from "../model/agent.ts";
import type { Delivery, DeliveryState } from "../model/delivery.ts";
import { systemClock, type AgentId, type Clock } from "../model/ids.ts";
import type { Message } from "../model/message.ts";
import { filesTransport } from "../transports/filesEndpoint.ts";
import { watchOutbox } from "./outbox/watch.ts";
import { readOutput, type Output } from "./outputs.ts";
import { ownIdOf, senderName, type Submissions } from "./submissions.ts";

/** What is written for the agent to read. */
export interface InboxFile {
  readonly author: "user" | "agent" | "tieline";
  readonly from: string;
  readonly content: string;
  readonly id: string;
  readonly tag: string;
  readonly sentAt: number;
  readonly replyTo?: string;
}

export interface Inbox {
  write(file: InboxFile): Promise<unknown>;
  /** Also when the agent has removed the file already. */
  wrote(id: string): boolean;
  writeAgents(names: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export interface WorkspacesParts {
  readonly agents: () => readonly Agent[];
  readonly mailbox: Pick<Mailbox, "message" | "inbox" | "onTransitions">;
  readonly submissions: Submissions;
  readonly documents: Documents;
  readonly openInbox: (workspace: string) => Inbox;
  /** Whom the agent can write to. */
  readonly reachable: (agent: Agent) => readonly string[];
  /** Files with the agent's output. */
  readonly outputsOf: (agent: Agent) => readonly Output[];
  readonly report: (context: string, fault: unknown) => void;
  /** How often the agents and the lists are compared with what is there, behind the calls of `refresh`. */
  readonly sweepMs?: number;
  readonly clock?: Clock;
}

interface Room {
  readonly agent: Agent;
  readonly outputs: string;
  readonly stop: AbortController;
  /** Everything that runs for this agent. */
  readonly over: Promise<unknown>[];
  inbox: Inbox | null;
  listed: string | null;
  /** Copies go one after the other. */
  copying: Promise<unknown>;
}

export class Workspaces {
  private readonly rooms = new Map<AgentId, Room>();
  private readonly faults = new Map<AgentId, string>();
  private readonly clock: Clock;
  private stopListening: () => void = () => undefined;
  private sweep: Timer | null = null;

  constructor(private readonly parts: WorkspacesParts) {
    this.clock = parts.clock ?? systemClock;
  }

  start(): void {
    this.stopListening = this.parts.mailbox.onTransitions((changes) => changes.forEach((change) => this.follow(change)));
    this.sweep = setInterval(() => this.refresh(), this.parts.sweepMs ?? 2_000);
    this.sweep.unref();
    this.refresh();
  }

  /** Agents came, went or changed, or somebody may write to others than before. Cheap, and safe to repeat. */
  refresh(): void {
    if (this.sweep === null) return;
    try {
      this.reconcile();
    } catch (thrown) {
      // A project's file may be wrong for a while; what runs goes on.
      this.parts.report("workspaces", thrown);
    }
  }

  private reconcile(): void {
    const wanted = new Map(this.parts.agents().filter((agent) => this.isWanted(agent)).map((agent) => [agent.id, agent]));
    for (const [id, room] of [...this.rooms]) {
      const agent = wanted.get(id);
      if (agent === undefined || agent.workspace !== room.agent.workspace || this.outputsKey(agent) !== room.outputs) void this.leave(room);
    }
    for (const agent of wanted.values()) {
      const room = this.rooms.get(agent.id) ?? this.enter(agent);
      if (agent.workspace !== null) this.list(agent, room);
    }
  }

  /** Writes a message for its reader; the way in for those who have no other. */
  async write(agent: Agent, message: Message): Promise<void> {
    const file = this.fileOf(message, agent);
    try {
      await this.inboxOf(agent).write(file);
    } catch (thrown) {
      if (this.wrote(agent, message)) return;
      // The agent may have removed its inbox; there is a new one to write to.
      await this.reopen(agent, thrown).write(file);
    }
  }

  wrote(agent: Agent, message: Message): boolean {
    return this.inboxOf(agent).wrote(message.id);
  }

  async close(): Promise<void> {
    this.stopListening();
    if (this.sweep) clearInterval(this.sweep);
    this.sweep = null;
    await Promise.all([...this.rooms.values()].map((room) => this.leave(room)));
  }

  private isWanted(agent: Agent): boolean {
    return agent.kind === "program" && (agent.workspace !== null || this.parts.outputsOf(agent).length > 0);
  }

  private outputsKey(agent: Agent): string {
    return JSON.stringify(this.parts.outputsOf(agent));
  }

  private enter(agent: Agent): Room {
    const room: Room = { agent, outputs: this.outputsKey(agent), stop: new AbortController(), over: [], inbox: null, listed: null, copying: Promise.resolve() };
    this.rooms.set(agent.id, room);
    if (agent.workspace !== null) {
      room.over.push(this.watch(agent, agent.workspace, room.stop.signal));
      try {
        this.catchUp(room);
      } catch (thrown) {
        this.fault(agent, thrown);
      }
    }
    for (const output of this.parts.outputsOf(agent)) room.over.push(this.read(agent, output, room.stop.signal));
    return room;
  }

  private async leave(room: Room): Promise<void> {
    if (this.rooms.get(room.agent.id) === room) this.rooms.delete(room.agent.id);
    room.stop.abort();
    await Promise.all(room.over);
    await room.copying;
    await room.inbox?.close();
  }

  private inboxOf(agent: Agent): Inbox {
    const room = this.rooms.get(agent.id) ?? this.enter(agent);
    return (room.inbox ??= this.parts.openInbox(agent.workspace!));
  }

  private reopen(agent: Agent, cause: unknown): Inbox {
    this.fault(agent, cause);
    const room = this.rooms.get(agent.id);
    if (room) {
      this.inBackground(agent, room.inbox?.close() ?? Promise.resolve());
      room.inbox = null;
    }
    return this.inboxOf(agent);
  }

  private watch(agent: Agent, workspace: string, signal: AbortSignal): Promise<void> {
    const { submissions } = this.parts;
    return watchOutbox({
      ...{ workspace, signal, clock: this.clock },
      accept: async (entry, key) => {
        await submissions.fromOutbox(agent, entry, key);
        this.faults.delete(agent.id);
      },
      onRejected: ({ name, reason }) => this.inBackground(agent, submissions.tell(agent, `.outbox/${name} was not sent: ${reason}. It is in .outbox/.rejected now.`)),
      onFault: (fault) => this.fault(agent, fault),
    });
  }

  private read(agent: Agent, output: Output, signal: AbortSignal): Promise<void> {
    const { submissions, documents } = this.parts;
    return readOutput(agent, output, {
      ...{ submissions, documents, signal, clock: this.clock },
      tell: (text) => this.inBackground(agent, submissions.tell(agent, text)),
      fault: (fault) => this.fault(agent, fault),
    });
  }

  private list(agent: Agent, room: Room): void {
    const names = this.parts.reachable(agent);
    const listed = names.join(",");
    if (room.listed === listed) return;
    room.listed = listed;
    room.copying = room.copying
      .then(() => this.inboxOf(agent).writeAgents(names))
      .catch((fault: unknown) => {
        room.listed = null;
        this.fault(agent, fault);
      });
  }

  private follow({ transition, delivery, message }: Change): void {
    const room = this.rooms.get(delivery.agent);
    if (room === undefined || room.agent.workspace === null) return;
    if (isArrival(transition.from, transition.to) && delivery.transport !== filesTransport) this.copy(room, message, delivery);
  }

  /** Every message that is delivered is also in the inbox. */
  private copy(room: Room, message: Message, delivery: Delivery): void {
    const { documents } = this.parts;
    room.copying = room.copying
      .then(async () => {
        await this.write(room.agent, message);
        documents.put("copied", room.agent.id, { at: delivery.updatedAt });
      })
      .catch((fault: unknown) => this.fault(room.agent, fault));
  }

  /** What was delivered just before a crash may lack its copy. */
  private catchUp(room: Room): void {
    const { documents, mailbox } = this.parts;
    const { id } = room.agent;
    const copied = documents.all("copied").find(({ key }) => key === id)?.value as { at: number } | undefined;
    if (copied === undefined) documents.put("copied", id, { at: this.clock() });
    else {
      for (const { message, delivery } of mailbox.inbox(id, { limit: 1_000 })) {
        const arrived = arrivedStates.includes(delivery.state) && delivery.transport !== filesTransport && delivery.updatedAt >= copied.at;
        if (arrived && !this.wrote(room.agent, message)) this.copy(room, message, delivery);
      }
    }
  }

  private fileOf(message: Message, { team }: Agent): InboxFile {
    const { id, tag, body, acceptedAt, inReplyTo } = message;
    const original = inReplyTo === null ? null : this.parts.mailbox.message(inReplyTo);
    const replyTo = original === null ? inReplyTo : (ownIdOf(original) ?? original.id);
    return { from: senderName(message, team), author: authorKind(message), content: body, id, tag, sentAt: acceptedAt, ...(replyTo !== null && { replyTo }) };
  }

  /** The same trouble again and again is told once. */
  private fault(agent: Agent, fault: unknown): void {
    const words = fault instanceof Error ? fault.message : String(fault);
    if (this.faults.get(agent.id) === words) return;
    this.faults.set(agent.id, words);
    this.parts.report(`workspace of ${agent.team}:${agent.name}`, fault);
  }

  private inBackground(agent: Agent, work: Promise<unknown>): void {
    const done = work.catch((fault: unknown) => this.fault(agent, fault));
    this.rooms.get(agent.id)?.over.push(done);
  }
}

const authorKind = ({ from: { id } }: Message): InboxFile["author"] => (id === personId ? "user" : id === switchId ? "tieline" : "agent");

const arrivedStates: readonly DeliveryState[] = ["handed", "seen", "answered"];
const isArrival = (from: DeliveryState | null, to: DeliveryState): boolean => (from === "claimed" || from === "uncertain") && arrivedStates.includes(to);
