import type { Delivery, DeliveryState, Transition } from "../model/delivery.ts";
import type { AgentId, DeliveryId, MessageId } from "../model/ids.ts";
import type { Message, When } from "../model/message.ts";
import type { FormerName, InboxFilter, InboxRow, LogFilter, Pruned, Recipient, RetentionLimits } from "./port.ts";
import type { TallyCount, TallyQuery, TallySum } from "./statistics.ts";

/**
 * What a mailbox needs from a medium. Everything is synchronous: the mailbox collects concurrent verbs and runs
 * them together inside one `commit`, so that many accepts share one wait for the disk.
 */
export interface Store extends Disposable {
  readonly id: string;

  /** Runs the work as one atomic change; durable when it returns. Throws, keeping nothing, when that fails. */
  commit(work: () => void): void;

  /** Throws TagTaken when the tag belongs to another message. */
  addMessage(message: Message): void;
  addDelivery(delivery: Omit<Delivery, "id">, wakes: boolean): Delivery;
  /** Saves everything but the recipient, which only `readdress` changes. */
  saveDelivery(delivery: Delivery): void;
  readdress(delivery: DeliveryId, recipient: Recipient): void;
  /** Appends a step to a delivery's history, and shortens one that has become too long. */
  addTransition(transition: Transition): void;

  message(idOrTag: string): Message | null;
  /** Is the message as it was stored? */
  isIntact(id: MessageId): boolean;
  messageByKey(from: AgentId, key: string): Message | null;
  delivery(id: DeliveryId): Delivery | null;
  deliveriesOf(message: MessageId): Delivery[];
  transitionsOf(delivery: DeliveryId): Transition[];

  /** The first queued delivery of each `when` that wakes its agent. */
  heads(agent: AgentId): Delivery[];
  pushInFlight(agent: AgentId): boolean;
  /** Queued and open deliveries per agent, counted once when the mailbox opens. */
  counts(): { agent: AgentId; queued: number; open: number }[];
  nextDueAt(): number | null;
  expiring(now: number): Delivery[];
  inStates(states: readonly DeliveryState[], limit: number): Delivery[];
  inbox(agent: AgentId, filter: InboxFilter & { whens: readonly When[] | null }): InboxRow[];
  log(filter: LogFilter): Message[];
  logCount(filter: LogFilter): number;
  lastMessage(agent: AgentId): Message | null;
  nameOf(agent: AgentId): FormerName | null;
  addTallies(rows: readonly TallyCount[]): void;
  tallies(query: TallyQuery): TallySum[];
  sentSince(from: AgentId, to: AgentId | null, since: number): number;
  hopsAround(agent: AgentId): number;

  /** Adds to the deadlines of every open delivery, and to since when it is as it is. */
  moveDeadlines(byMs: number): void;
  /** The latest change of an open delivery. */
  lastWrittenAt(): number | null;
  /** The latest claim of which something may still be looked for; 0: there was none. */
  lastClaimedAt(): number;

  /** How much room everything takes. */
  usedBytes(): number;
  prune(limits: RetentionLimits): Pruned;
  index(batch: number): number;
}
