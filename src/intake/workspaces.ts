/**
 * The workspaces of all agents: what lies in an outbox or is written to a log is sent, what is delivered is also
 * written to the inbox, and the list of whom an agent can write to is kept true.
 */
import type { Documents } from "../agents/directory/documents/port.ts";
import type { Change, Mailbox } from "../mailbox/port.ts";
import { userId, switchId, type Agent } from "../model/agent.ts";
import type { DeliveryState } from "../model/delivery.ts";
import { asTielineError } from "../model/errors.ts";
import { systemClock, type AgentId, type Clock, type MessageId, type RandomBytes } from "../model/ids.ts";
import type { Message } from "../model/message.ts";
import { filesKind } from "../delivery/transports/filesEndpoint.ts";
import { watchOutbox } from "./outbox/watch.ts";
import { readOutput, type AgentOutput } from "./outputs.ts";
import { ownIdOf, senderName, type Submissions } from "./submissions.ts";
import { systemTimers, type Scheduled, type Timers } from "../os/timers.ts";

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
  /** The names that the agent can write to. */
  readonly reachable: (agent: Agent) => readonly string[];
  /** Files with the agent's output. */
  readonly outputsOf: (agent: Agent) => readonly AgentOutput[];
  readonly report: (context: string, fault: unknown) => void;
  /** How often the agents and the lists are compared with what is there, behind the calls of `refresh`. */
  readonly sweepMs?: number;
  readonly clock?: Clock;
  readonly timers?: Timers;
  readonly random?: RandomBytes;
}

interface Room {
  readonly agent: Agent;
  readonly outputs: string;
  readonly stop: AbortController;
  /** Everything that runs for this agent. */
  readonly running: Set<Promise<unknown>>;
  /** What was delivered and is to be copied, in order. */
  readonly uncopied: Arrival[];
  isCopying: boolean;
  caughtUp: boolean;
  inbox: Inbox | null;
  listed: string | null;
}

/** The message itself is read when its turn comes: many may arrive at once. */
interface Arrival {
  readonly message: MessageId;
  readonly at: number;
}

/** How often it is noted how far the copies are; after a crash the inbox tells of those in between. */
const copiesPerNote = 16;

export class Workspaces {
  private readonly rooms = new Map<AgentId, Room>();
  private readonly faults = new Map<AgentId, string>();
  /** Agents that write faster than they may and know it, by where they write. */
  private readonly limited = new Set<string>();
  private readonly clock: Clock;
  private readonly timers: Timers;
  private stopListening: () => void = () => undefined;
  private sweep: Scheduled | null = null;

  constructor(private readonly parts: WorkspacesParts) {
    this.clock = parts.clock ?? systemClock;
    this.timers = parts.timers ?? systemTimers;
  }

  start(): void {
    this.stopListening = this.parts.mailbox.onTransitions((changes) =>
      changes.forEach((change) => this.follow(change)),
    );
    this.sweep = this.timers.every(this.parts.sweepMs ?? 2_000, () => this.refresh(), { background: true });
    this.refresh();
  }

  /** Agents came, went or changed, or the allowed recipients changed. Cheap, and safe to repeat. */
  refresh(): void {
    if (this.sweep === null) return;
    try {
      this.reconcile();
    } catch (thrown) {
      // A project's file may be wrong for a while; running agents continue.
      this.parts.report("workspaces", thrown);
    }
  }

  private reconcile(): void {
    const wanted = new Map(
      this.parts
        .agents()
        .filter((agent) => this.isWanted(agent))
        .map((agent) => [agent.id, agent]),
    );
    for (const [id, room] of [...this.rooms]) {
      const agent = wanted.get(id);
      if (agent === undefined || agent.workspace !== room.agent.workspace || this.outputsKey(agent) !== room.outputs)
        void this.leave(room);
    }
    for (const agent of wanted.values()) {
      const room = this.rooms.get(agent.id) ?? this.enter(agent);
      if (agent.workspace === null) continue;
      this.list(agent, room);
      this.catchUpOnce(room);
    }
  }

  /** Writes a message for its reader; the transport for agents that have no other. */
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
    this.sweep?.cancel();
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
    const room: Room = {
      ...{ agent, outputs: this.outputsKey(agent), stop: new AbortController(), inbox: null, listed: null },
      ...{ running: new Set(), uncopied: [], isCopying: false, caughtUp: false },
    };
    this.rooms.set(agent.id, room);
    if (agent.workspace !== null) {
      this.inBackground(room, this.watch(room, agent.workspace));
      this.catchUpOnce(room);
    }
    for (const output of this.parts.outputsOf(agent)) this.inBackground(room, this.read(room, output));
    return room;
  }

  private async leave(room: Room): Promise<void> {
    if (this.rooms.get(room.agent.id) === room) this.rooms.delete(room.agent.id);
    room.stop.abort();
    await Promise.all(room.running);
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
      this.inBackground(room, room.inbox?.close() ?? Promise.resolve());
      room.inbox = null;
    }
    return this.inboxOf(agent);
  }

  private watch(room: Room, workspace: string): Promise<void> {
    const { submissions, random } = this.parts;
    const { agent, stop } = room;
    const place = `${agent.id}:.outbox`;
    return watchOutbox({
      ...{ workspace, signal: stop.signal, clock: this.clock, timers: this.timers, ...(random && { random }) },
      accept: async (entry, key) => {
        await submissions.fromOutbox(agent, entry, key);
        this.faults.delete(agent.id);
      },
      onRejected: ({ name, reason }) =>
        this.inBackground(
          room,
          submissions.tell(agent, `.outbox/${name} was not sent: ${reason}. It is in .outbox/.rejected now.`),
        ),
      onFault: (fault) =>
        this.refusal(
          room,
          place,
          fault,
          "The other files wait in .outbox, and are sent as soon as the limit allows; remove those that are " +
            "no longer needed.",
        ),
      onIdle: () => this.limited.delete(place),
    });
  }

  private read(room: Room, output: AgentOutput): Promise<void> {
    const { submissions, documents } = this.parts;
    const { agent, stop } = room;
    const place = `${agent.id}:${output.pattern}`;
    return readOutput(agent, output, {
      ...{ submissions, documents, signal: stop.signal, clock: this.clock, timers: this.timers },
      tell: (text) => this.inBackground(room, submissions.tell(agent, text)),
      fault: (fault) =>
        this.refusal(room, place, fault, `Further messages in ${output.pattern} are sent as soon as the limit allows.`),
      idle: () => this.limited.delete(place),
    });
  }

  /** An agent above its rate limit gets one notice until all that it wrote is sent. */
  private refusal(room: Room, place: string, thrown: unknown, more: string): void {
    const fault = asTielineError(thrown);
    if (fault.code !== "RATE_LIMITED") return this.fault(room.agent, thrown);
    if (this.limited.has(place)) return;
    this.limited.add(place);
    this.inBackground(room, this.parts.submissions.tell(room.agent, `${fault.message}. ${more}`));
  }

  private list(agent: Agent, room: Room): void {
    const names = this.parts.reachable(agent);
    const listed = names.join(",");
    if (room.listed === listed) return;
    room.listed = listed;
    const written = async (): Promise<void> => {
      try {
        await this.inboxOf(agent).writeAgents(names);
      } catch (thrown) {
        room.listed = null;
        throw thrown;
      }
    };
    this.inBackground(room, written());
  }

  private follow({ transition, delivery, message }: Change): void {
    const room = this.rooms.get(delivery.agent);
    if (room === undefined || room.agent.workspace === null) return;
    if (isArrival(transition.from, transition.to) && delivery.transport !== filesKind.transport)
      this.copy(room, { message: message.id, at: delivery.updatedAt });
  }

  /** Every message that is delivered is also in the inbox. */
  private copy(room: Room, arrival: Arrival): void {
    room.uncopied.push(arrival);
    if (room.isCopying) return;
    room.isCopying = true;
    this.inBackground(
      room,
      this.copyAll(room).finally(() => (room.isCopying = false)),
    );
  }

  /** What is left when the daemon stops is copied when it is back. */
  private async copyAll({ agent, uncopied, stop }: Room): Promise<void> {
    const { documents, mailbox } = this.parts;
    for (let copied = 1; uncopied.length > 0 && !stop.signal.aborted; copied++) {
      const { message: id, at } = uncopied[0]!;
      try {
        const message = mailbox.message(id);
        if (message !== null) await this.write(agent, message);
      } catch (thrown) {
        this.fault(agent, thrown);
      }
      uncopied.shift();
      if (copied % copiesPerNote === 0 || uncopied.length === 0 || stop.signal.aborted)
        documents.put("copied", agent.id, { at });
    }
  }

  /** Tried again with each sweep until it worked. */
  private catchUpOnce(room: Room): void {
    if (room.caughtUp) return;
    try {
      this.catchUp(room);
      room.caughtUp = true;
    } catch (thrown) {
      this.fault(room.agent, thrown);
    }
  }

  /** What was delivered just before a crash may lack its copy. */
  private catchUp(room: Room): void {
    const { documents, mailbox } = this.parts;
    const { id } = room.agent;
    const copied = documents.all("copied").find(({ key }) => key === id)?.value as { at: number } | undefined;
    if (copied === undefined) documents.put("copied", id, { at: this.clock() });
    else {
      for (const { message, delivery } of mailbox.inbox(id, { limit: 1_000 })) {
        const arrived =
          arrivedStates.includes(delivery.state) &&
          delivery.transport !== filesKind.transport &&
          delivery.updatedAt >= copied.at;
        if (arrived && !this.wrote(room.agent, message))
          this.copy(room, { message: message.id, at: delivery.updatedAt });
      }
    }
  }

  private fileOf(message: Message, { team }: Agent): InboxFile {
    const { id, tag, body, acceptedAt, inReplyTo } = message;
    const original = inReplyTo === null ? null : this.parts.mailbox.message(inReplyTo);
    const replyTo = original === null ? inReplyTo : (ownIdOf(original) ?? original.id);
    return {
      from: senderName(message, team),
      author: authorKind(message),
      content: body,
      id,
      tag,
      sentAt: acceptedAt,
      ...(replyTo !== null && { replyTo }),
    };
  }

  /** A repeated problem is reported once. */
  private fault(agent: Agent, fault: unknown): void {
    const words = fault instanceof Error ? fault.message : String(fault);
    if (this.faults.get(agent.id) === words) return;
    this.faults.set(agent.id, words);
    this.parts.report(`workspace of ${agent.team}:${agent.name}`, fault);
  }

  private inBackground(room: Room, work: Promise<unknown>): void {
    const done: Promise<unknown> = work
      .catch((fault: unknown) => this.fault(room.agent, fault))
      .finally(() => room.running.delete(done));
    room.running.add(done);
  }
}

const authorKind = ({ from: { id } }: Message): InboxFile["author"] =>
  id === userId ? "user" : id === switchId ? "tieline" : "agent";

const arrivedStates: readonly DeliveryState[] = ["delivered", "seen", "answered"];
const isArrival = (from: DeliveryState | null, to: DeliveryState): boolean =>
  (from === "claimed" || from === "uncertain") && arrivedStates.includes(to);
