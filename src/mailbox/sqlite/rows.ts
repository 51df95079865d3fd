import {
  deliveryStates,
  type Authority,
  type Delivery,
  type DeliveryState,
  type HoldReason,
  type Lane,
  type Note,
  type Proof,
  type Transition,
  type Verb,
} from "../../model/delivery.ts";
import { deliveryId, type AgentId, type MessageId, type Tag } from "../../model/ids.ts";
import type { IdentityProof, Kind, Message, When } from "../../model/message.ts";
import { checksumOf } from "./checksum.ts";

export interface MessageRow {
  id: string;
  tag: string;
  from_id: string;
  from_name: string;
  from_team: string;
  known_by: string;
  to_text: string;
  team: string;
  body: string;
  summary: string;
  kind: string;
  served: string;
  hard: number;
  in_reply_to: string | null;
  thread: string;
  expects_reply: number;
  starts: number;
  expires_at: number | null;
  hops: number;
  idempotency_key: string | null;
  accepted_at: number;
  checksum: string | null;
}

export interface DeliveryRow {
  id: number;
  message_id: string;
  agent: string;
  agent_name: string;
  state: string;
  served: string;
  reason: string | null;
  detail: string | null;
  reason_at: number | null;
  attempts: number;
  proof: string | null;
  transport: string | null;
  authority: string | null;
  warning: string | null;
  /** JSON; null: none. */
  notes: string | null;
  lane: string | null;
  claimed_at: number | null;
  lease_until: number | null;
  expires_at: number | null;
  available_at: number | null;
  answered_at: number | null;
  queued_at: number;
  /** Null: not known, in rows of earlier versions. */
  state_at: number | null;
  updated_at: number;
}

export interface HistoryRow {
  delivery: number;
  at: number;
  verb: string;
  from_state: string | null;
  to_state: string;
  reason: string | null;
  detail: string | null;
  proof: string | null;
  transport: string | null;
  authority: string | null;
  left_out: number | null;
}

export function messageToRow(message: Message): MessageRow {
  const row = { ...contentOf(message), checksum: null };
  return { ...row, checksum: checksumOf(row) };
}

const contentOf = (message: Message): Omit<MessageRow, "checksum"> => ({
  id: message.id,
  tag: message.tag,
  from_id: message.from.id,
  from_name: message.from.name,
  from_team: message.from.team,
  known_by: message.from.knownBy,
  to_text: message.to,
  team: message.team,
  body: message.body,
  summary: message.summary,
  kind: message.kind,
  served: message.when,
  hard: Number(message.hard),
  in_reply_to: message.inReplyTo,
  thread: message.thread,
  expects_reply: Number(message.expectsReply),
  starts: Number(message.starts),
  expires_at: message.expiresAt,
  hops: message.hops,
  idempotency_key: message.idempotencyKey,
  accepted_at: message.acceptedAt,
});

export const rowToMessage = (row: MessageRow): Message => ({
  id: row.id as MessageId,
  tag: row.tag as Tag,
  from: {
    id: row.from_id as AgentId,
    name: row.from_name,
    team: row.from_team,
    knownBy: row.known_by as IdentityProof,
  },
  to: row.to_text,
  team: row.team,
  body: row.body,
  summary: row.summary,
  kind: row.kind as Kind,
  when: row.served as When,
  hard: row.hard === 1,
  inReplyTo: row.in_reply_to as MessageId | null,
  thread: row.thread as MessageId,
  expectsReply: row.expects_reply === 1,
  starts: row.starts === 1,
  expiresAt: row.expires_at,
  hops: row.hops,
  idempotencyKey: row.idempotency_key,
  acceptedAt: row.accepted_at,
});

/** The columns of a delivery that change during its life. */
export const mutableColumns = (delivery: Omit<Delivery, "id">) => ({
  state: delivery.state,
  reason: delivery.reason,
  detail: delivery.detail,
  reason_at: delivery.reasonAt,
  attempts: delivery.attempts,
  proof: delivery.proof,
  transport: delivery.transport,
  authority: delivery.authority,
  warning: delivery.warning,
  notes: delivery.notes.length === 0 ? null : JSON.stringify(delivery.notes),
  lane: delivery.lane,
  claimed_at: delivery.claimedAt,
  lease_until: delivery.leaseUntil,
  expires_at: delivery.expiresAt,
  available_at: delivery.availableAt,
  answered_at: delivery.answeredAt,
  state_at: delivery.stateAt,
  updated_at: delivery.updatedAt,
});

export const rowToDelivery = (row: DeliveryRow): Delivery => ({
  id: deliveryId(row.id),
  messageId: row.message_id as MessageId,
  agent: row.agent as AgentId,
  agentName: row.agent_name,
  state: stateIn(row),
  when: row.served as When,
  reason: row.reason as HoldReason | null,
  detail: row.detail,
  reasonAt: row.reason_at,
  attempts: row.attempts,
  proof: row.proof as Proof | null,
  transport: row.transport,
  authority: row.authority as Authority | null,
  warning: row.warning,
  notes: row.notes === null ? [] : (JSON.parse(row.notes) as readonly Note[]),
  lane: row.lane as Lane | null,
  claimedAt: row.claimed_at,
  leaseUntil: row.lease_until,
  expiresAt: row.expires_at,
  availableAt: row.available_at,
  answeredAt: row.answered_at,
  queuedAt: row.queued_at,
  stateAt: row.state_at ?? row.updated_at,
  updatedAt: row.updated_at,
});

/** The schema lets no other word in, so that one was not written by us. */
function stateIn({ id, state }: DeliveryRow): DeliveryState {
  if (states.has(state)) return state as DeliveryState;
  throw new TypeError(`delivery ${id} has the state ${JSON.stringify(state)}`);
}

const states: ReadonlySet<string> = new Set(deliveryStates);

export const transitionToRow = (transition: Transition): HistoryRow => ({
  delivery: transition.delivery,
  at: transition.at,
  verb: transition.verb,
  from_state: transition.from,
  to_state: transition.to,
  reason: transition.reason,
  detail: transition.detail,
  proof: transition.proof,
  transport: transition.transport,
  authority: transition.authority,
  left_out: transition.leftOut ?? null,
});

export const rowToTransition = (row: HistoryRow): Transition => ({
  delivery: deliveryId(row.delivery),
  at: row.at,
  verb: row.verb as Verb,
  from: row.from_state as DeliveryState | null,
  to: row.to_state as DeliveryState,
  reason: row.reason as HoldReason | null,
  detail: row.detail,
  proof: row.proof as Proof | null,
  transport: row.transport,
  authority: row.authority as Authority | null,
  ...(row.left_out !== null && { leftOut: row.left_out }),
});
