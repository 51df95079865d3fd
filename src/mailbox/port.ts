import type {
  Authority,
  Delivery,
  DeliveryState,
  Hold,
  Lane,
  NoteCode,
  Outcome,
  Proof,
  Transition,
} from "../model/delivery.ts";
import type { AgentId, DeliveryId, MessageId } from "../model/ids.ts";
import type { Message, When } from "../model/message.ts";
import type { Receipt, History } from "../model/receipt.ts";
import type { TallyQuery, TallySum } from "./statistics.ts";

/**
 * The durable store of messages and deliveries; the only truth about what became of a message.
 *
 * State changes only through the verbs below, along the table in model/delivery.ts. Every verb that changes
 * something appends to the delivery's history in the same transaction, and resolves only when the change is
 * durable. Verbs may be called concurrently; a driver may commit several together. A verb that is refused
 * (CONFLICT, MESSAGE_UNKNOWN) changes nothing. When the disk fails, every affected verb rejects with
 * STORE_UNAVAILABLE and nothing is kept.
 */
export interface Mailbox extends AsyncDisposable {
  /** Names this mailbox among others; marks that we leave outside carry it. Never changes. */
  readonly id: string;

  /**
   * Stores a message with one queued delivery per recipient. A second accept with the sender's same idempotency
   * key returns the first receipt, or CONFLICT when the content differs. A tag that is taken already is a
   * TagTaken error: seal again. A message in reply to another answers that one's delivery to this sender. STORE_FULL
   * when there is no room: what is there stays, and the new message is refused.
   */
  accept(message: Message, recipients: readonly Recipient[]): Promise<Receipt>;

  /**
   * Moves one queued delivery to claimed, or answers null when it is not queued any more or when the push lane of its
   * agent is taken. Pull claims carry a lease. A message that is not as it was stored is never delivered: the
   * delivery fails, with a bounce, and the answer is null.
   */
  claim(delivery: DeliveryId, claim: ClaimOptions): Promise<Delivery | null>;

  /** Records why a queued delivery waits. The same hold again changes nothing and keeps its time. */
  hold(delivery: DeliveryId, hold: Hold): Promise<void>;

  /**
   * Ends a claim, decides an uncertain delivery whose attempt was proved absent, or takes back one that was delivered
   * and then lost (`unknown`, `discarded`); one that was seen meanwhile stays seen. A dead letter's bounce is stored in
   * the same transaction.
   */
  settle(delivery: DeliveryId, outcome: Outcome, via: Via): Promise<Delivery>;

  /**
   * Gives up a queued delivery that can never be made: it fails with this detail, and its sender gets a bounce. Null:
   * it is not queued any more.
   */
  abandon(delivery: DeliveryId, detail: string): Promise<Delivery | null>;

  /**
   * Records that a queued notice was read by a recipient inside the switch, which needs no attempt. Null: it is not
   * queued any more, or it is damaged and fails as in `claim`.
   */
  read(delivery: DeliveryId, via: Via): Promise<Delivery | null>;

  /** Raises the proof of a delivery; a weaker or equal proof changes nothing. */
  confirm(delivery: DeliveryId, proof: Proof, detail?: string): Promise<Delivery>;

  /** Puts a warning on a delivery's receipt; its state stays. */
  warn(delivery: DeliveryId, warning: string): Promise<void>;

  /**
   * Puts a note on a message that waits or was delivered, in place of an earlier one with that code; null takes it
   * away.
   */
  note(delivery: DeliveryId, code: NoteCode, text: string | null): Promise<void>;

  /** Expires what is due, with bounces. Uncertain deliveries never expire. */
  expire(now: number): Promise<readonly Delivery[]>;

  /** CONFLICT while claimed or once delivered. Without an agent: every delivery of the message that can be. */
  cancel(message: MessageId, agent?: AgentId): Promise<Receipt>;

  /**
   * Queues dead, expired, cancelled or uncertain deliveries again, with the same id and tag and no attempts.
   * `recipientOf` names the agent that takes the place of a removed one; a delivery for which it throws stays as it is.
   */
  retry(message: MessageId, agent?: AgentId, recipientOf?: (delivery: Delivery) => Recipient): Promise<Receipt>;

  /** Push claims that outlived their process, and pull claims past their lease, become uncertain. */
  recover(now: number, scope: "start" | "leases"): Promise<readonly Delivery[]>;

  /**
   * The clock was set by so much: what is open keeps the time that is left to it, and has waited for as long as before.
   * Moves when it expires, is tried again and loses its lease, and since when it is as it is; states and histories
   * stay.
   */
  moveDeadlines(byMs: number): Promise<void>;
  /**
   * When something about an open delivery was last written down; null: nothing is open. An earlier clock was set back.
   */
  lastWrittenAt(): number | null;

  /**
   * For a mailbox that is an older copy, or the rest of a damaged one: every open delivery becomes uncertain, with the
   * detail that `why` gives. null: it stays as it is. Answers those that are uncertain now.
   */
  restored(now: number, why: (delivery: Delivery) => string | null): Promise<readonly Delivery[]>;

  /** The first deliveries that could be pushed now, at most one for each `when`, most urgent first. */
  heads(agent: AgentId, now: number): readonly Delivery[];
  /** Agents with queued mail. */
  waiting(): readonly AgentId[];
  /** Deliveries that still owe something: queued, claimed, uncertain. */
  pending(agent: AgentId): number;
  /** When the next delivery expires, becomes available again or loses its lease; null when nothing is timed. */
  nextDueAt(): number | null;

  message(idOrTag: string): Message | null;
  /** Is the message as it was stored? Its text is not to be trusted otherwise. */
  isIntact(id: MessageId): boolean;
  /** The message of the sender's idempotency key. */
  messageWithKey(from: AgentId, key: string): Message | null;
  delivery(id: DeliveryId): Delivery | null;
  receipt(idOrTag: string): Receipt | null;
  history(idOrTag: string): History | null;
  /** Newest last; at most `limit`, the newest ones. */
  inbox(agent: AgentId, filter?: InboxFilter): readonly InboxRow[];
  log(filter?: LogFilter): readonly Receipt[];
  /** How many messages `log` would answer if it had no limit. */
  logCount(filter?: LogFilter): number;
  /** The newest message that the agent sent or was sent. */
  lastMessage(agent: AgentId): Message | null;
  /** The name and team under which an agent last sent or was sent mail, for one that was removed since. */
  nameOf(agent: AgentId): FormerName | null;
  /** Counts of what happened in a range of time; see statistics.ts. */
  tallies(query: TallyQuery): readonly TallySum[];
  deliveriesIn(states: readonly Delivery["state"][], limit?: number): readonly Delivery[];
  /** How many messages `from` sent to `to` (or to anyone) since then, of any kind. */
  sentSince(from: AgentId, to: AgentId | null, since: number): number;
  /** The most hops among the messages delivered to this agent since the last one from a user. */
  hopsAround(agent: AgentId): number;

  /**
   * Removes finished messages beyond the limits: a few are looked at per call, the oldest first. What waits, was
   * finished after `freshSince`, or is unanswered stays, however large the mailbox is; only its age ends an unanswered
   * message.
   */
  prune(limits: RetentionLimits): Promise<Pruned>;

  /** Called when a message was accepted or refused although there is hardly any room. Listeners must not throw. */
  onNearlyFull(listener: () => void): () => void;

  /** Makes the next messages quick to find by their words, a small batch per call; answers how many. */
  index(batch: number): Promise<number>;

  /**
   * Called when an accept is asked for, while it is on its way to the disk; it may yet be refused. Listeners must not
   * throw.
   */
  onComing(listener: (message: Message, recipients: readonly Recipient[]) => void): () => void;

  /** Called after commit with each batch of changes, in order. Listeners must not throw. */
  onTransitions(listener: (changes: readonly Change[]) => void): () => void;
}

export interface Recipient {
  readonly id: AgentId;
  readonly name: string;
}

export interface ClaimOptions {
  readonly lane: Lane;
  readonly now: number;
  /** Written down with the claim: after a crash it says where to look. */
  readonly transport: string;
  /** Likewise: what was found after a crash counted as the word of whom? */
  readonly authority?: Authority;
}

/** By which transport an attempt went, and as whose words. */
export interface Via {
  readonly transport: string | null;
  readonly authority: Authority | null;
}

export interface InboxFilter {
  readonly pending?: boolean;
  /** Of more than `limit`, the oldest instead of the newest. */
  readonly oldest?: boolean;
  readonly limit?: number;
  readonly when?: readonly When[];
  /** Only what wakes its agent, or only what does not: bounces and acks. */
  readonly wakes?: boolean;
  /** Only what was sent in this team. */
  readonly team?: string;
}

export interface InboxRow {
  readonly message: Message;
  readonly delivery: Delivery;
}

/** `team`: null when it is not known. */
export interface FormerName {
  readonly name: string;
  readonly team: string | null;
}

export interface LogFilter {
  readonly limit?: number;
  readonly agent?: AgentId;
  /** Only messages that one of these agents sent or received. */
  readonly agents?: readonly AgentId[];
  /** Only messages from this agent. */
  readonly from?: AgentId;
  /** Only messages with a delivery to this agent. */
  readonly to?: AgentId;
  /** Only messages of which a delivery is in one of these states. */
  readonly states?: readonly DeliveryState[];
  /** Only what is filed under this team, or was sent or received by one of its members. */
  readonly team?: { readonly name: string; readonly members: readonly AgentId[] };
  readonly thread?: MessageId;
  /** Words and "quoted phrases", all of which the body must contain; `word*` is a beginning. */
  readonly grep?: string;
  readonly since?: number;
  /** Only messages that were accepted before this moment. */
  readonly until?: number;
  /** The newest of those that were accepted before the message with this id. */
  readonly before?: string;
  /** The first of those that were accepted after the message with this id, instead of the newest ones. */
  readonly after?: string;
  /** Of more than `limit`, the oldest instead of the newest. */
  readonly oldest?: boolean;
}

export interface RetentionLimits {
  readonly olderThan: number;
  readonly freshSince: number;
  readonly maxBytes: number;
  /** How many messages are looked at. */
  readonly batch: number;
  /** Where an earlier call ended; left out: at the oldest. */
  readonly after?: number;
}

export interface Pruned {
  readonly removed: number;
  /** Where to continue; null: there is nothing else that may go. */
  readonly next: number | null;
}

export interface Change {
  readonly transition: Transition;
  readonly delivery: Delivery;
  readonly message: Message;
}

/** A sealed message drew a tag that another message has. The sender seals again; callers do not see this. */
export class TagTaken extends Error {
  override readonly name = "TagTaken";
}
