/**
 * The steps of a delivery's life as pure functions: a delivery in, the changed delivery and its history row out.
 * `null` means that nothing changes. Each step is checked against the table in model/delivery.ts.
 */
import {
  pullLeaseMs,
  isSummaryOnly,
  mayFollow,
  proofOfSummary,
  provesSeen,
  stateAfter,
  strongerProof,
  type Delivery,
  type DeliveryState,
  type Hold,
  type Note,
  type NoteCode,
  type Outcome,
  type Proof,
  type Transition,
  type Verb,
} from "../model/delivery.ts";
import { TielineError } from "../model/errors.ts";
import { rankOf, type Message } from "../model/message.ts";
import type { ClaimOptions, Recipient, Via } from "./port.ts";

export interface Step {
  readonly delivery: Delivery;
  readonly transition: Transition;
}

export function queued(message: Message, recipient: Recipient): Omit<Delivery, "id"> {
  return {
    messageId: message.id,
    agent: recipient.id,
    agentName: recipient.name,
    state: "queued",
    when: message.when,
    reason: null,
    detail: null,
    reasonAt: null,
    attempts: 0,
    proof: null,
    transport: null,
    authority: null,
    warning: null,
    notes: [],
    lane: null,
    claimedAt: null,
    leaseUntil: null,
    expiresAt: message.expiresAt,
    availableAt: null,
    answeredAt: null,
    queuedAt: message.acceptedAt,
    stateAt: message.acceptedAt,
    updatedAt: message.acceptedAt,
  };
}

export function accepted(delivery: Delivery): Step {
  return { delivery, transition: row("accept", null, delivery, delivery.queuedAt) };
}

export function claimed(delivery: Delivery, { lane, now, transport, authority }: ClaimOptions, claimedAt = now): Step {
  const leaseUntil = lane === "pull" ? now + pullLeaseMs : null;
  return step(
    "claim",
    delivery,
    { ...clear, state: "claimed", lane, claimedAt, leaseUntil, transport, authority: authority ?? null },
    now,
  );
}

/** A text that differs from what its sender wrote is never delivered. */
export function damaged(delivery: Delivery, now: number, verb: "claim" | "read" = "claim"): Step {
  const detail =
    "its stored text does not match its checksum (STORE_CORRUPT): it was altered on the disk; send it again";
  return step(verb, delivery, { ...clear, state: "failed", detail }, now);
}

export function abandoned(delivery: Delivery, detail: string, now: number): Step {
  return step("abandon", delivery, { ...clear, state: "failed", detail }, now);
}

export function read(delivery: Delivery, via: Via, now: number): Step {
  return step("read", delivery, { ...clear, state: "delivered", proof: "written", ...via }, now);
}

export function held(delivery: Delivery, hold: Hold, now: number): Step | null {
  if (delivery.state !== "queued") return null;
  if (delivery.reason === hold.reason && delivery.detail === hold.detail) return null;
  const reasonAt = delivery.reason === hold.reason ? delivery.reasonAt : now;
  return step("hold", delivery, { state: "queued", reason: hold.reason, detail: hold.detail, reasonAt }, now);
}

/** Waits before the attempts after the first and second error. */
const backoffMs = [1_000, 5_000];

export function settled(delivery: Delivery, outcome: Outcome, via: Via, now: number, maxAttempts: number): Step {
  const { state, attempts } = stateAfter(outcome, delivery.attempts, maxAttempts);
  const failing = outcome.kind === "error";
  const reason =
    outcome.kind === "held" ? outcome.hold.reason : outcome.kind === "gone" ? "offline" : failing ? "error" : null;
  const detail = outcome.kind === "held" ? outcome.hold.detail : (outcome.detail ?? null);
  return step(
    "settle",
    delivery,
    {
      ...clear,
      state,
      attempts,
      reason,
      detail,
      authority: null,
      // What waits again was not delivered, whatever an earlier attempt seemed to prove.
      ...(state === "queued" && { proof: null }),
      reasonAt: reason === null ? null : now,
      availableAt: failing && state === "queued" ? now + (backoffMs[attempts - 1] ?? backoffMs.at(-1)!) : null,
      ...(outcome.kind === "delivered" && {
        proof: isSummaryOnly(outcome) ? proofOfSummary(outcome.proof) : outcome.proof,
        detail: outcome.detail ?? null,
      }),
      ...((outcome.kind === "delivered" || outcome.kind === "unknown") && {
        ...via,
        notes: [...only("degraded", delivery.notes), ...(outcome.notes ?? [])],
      }),
    },
    now,
  );
}

/** What was delivered and then lost keeps its history; one that was seen meanwhile stays seen. */
export function lost(
  delivery: Delivery,
  outcome: Extract<Outcome, { kind: "unknown" | "discarded" }>,
  now: number,
): Step | null {
  if (delivery.state !== "delivered") return null;
  const { state } = stateAfter(outcome, delivery.attempts);
  return step("settle", delivery, { state, detail: outcome.detail, warning: null }, now);
}

export function confirmed(delivery: Delivery, offered: Proof, detail: string | undefined, now: number): Step | null {
  if (offered === "reply") return answered(delivery, now);
  const proof = isSummaryOnly(delivery) ? proofOfSummary(offered) : offered;
  if (!strongerProof(delivery.proof, proof)) return null;
  if (!["delivered", "seen", "uncertain"].includes(delivery.state)) return null;
  const state: DeliveryState = provesSeen(proof) || delivery.state === "seen" ? "seen" : "delivered";
  const notes = state === "seen" ? without("retrying", delivery.notes) : delivery.notes;
  return step("confirm", delivery, { state, proof, detail: detail ?? null, warning: null, notes }, now);
}

/** A reply proves more than any receipt; before the delivery it is only noted, because the text may still go out. */
export function answered(delivery: Delivery, now: number): Step | null {
  if (delivery.answeredAt !== null) return null;
  const delivered = ["claimed", "delivered", "uncertain", "seen"].includes(delivery.state);
  const state = delivered ? "answered" : delivery.state;
  const proof = delivered ? "reply" : delivery.proof;
  return step("confirm", delivery, { ...(delivered && clear), state, proof, answeredAt: now, warning: null }, now);
}

export function warned(delivery: Delivery, warning: string, now: number): Step | null {
  if (delivery.state !== "delivered" || delivery.warning === warning) return null;
  return step("confirm", delivery, { state: "delivered", warning, detail: warning }, now);
}

/** Puts a note on what waits or was delivered, in place of an earlier one with its code, or takes it away: null. */
export function noted(delivery: Delivery, code: NoteCode, text: string | null, now: number): Step | null {
  if (!["queued", "delivered", "seen"].includes(delivery.state)) return null;
  const known = delivery.notes.find((note) => note.code === code);
  if ((known?.text ?? null) === text) return null;
  const notes = [...without(code, delivery.notes), ...(text === null ? [] : [{ code, text }])];
  return step(
    "confirm",
    delivery,
    { state: delivery.state, notes, ...(text !== null && delivery.state !== "queued" && { detail: text }) },
    now,
  );
}

const only = (code: NoteCode, notes: readonly Note[]): readonly Note[] => notes.filter((note) => note.code === code);
const without = (code: NoteCode, notes: readonly Note[]): readonly Note[] => notes.filter((note) => note.code !== code);

export function expired(delivery: Delivery, now: number): Step {
  return step(
    "expire",
    delivery,
    { ...clear, state: "expired", detail: "its time to live was over before it could be delivered" },
    now,
  );
}

export function cancelled(delivery: Delivery, now: number): Step {
  if (!mayFollow(delivery.state, "cancel", "cancelled")) {
    throw new TielineError(
      "CONFLICT",
      `the delivery to ${delivery.agentName} is ${delivery.state} and cannot be cancelled`,
      {
        remedy: "`tieline status TAG` shows the state; only waiting, held or uncertain deliveries can be cancelled",
        operands: { agent: delivery.agentName, state: delivery.state },
      },
    );
  }
  return step("cancel", delivery, { ...clear, state: "cancelled" }, now);
}

export function retried(delivery: Delivery, now: number): Step {
  if (!mayFollow(delivery.state, "retry", "queued")) {
    throw new TielineError(
      "CONFLICT",
      `the delivery to ${delivery.agentName} is ${delivery.state}; there is nothing to retry`,
      {
        remedy: "only failed, expired, cancelled or uncertain deliveries can be retried",
        operands: { agent: delivery.agentName, state: delivery.state },
      },
    );
  }
  const again = {
    attempts: 0,
    proof: null,
    transport: null,
    authority: null,
    warning: null,
    notes: [],
    expiresAt: null,
  };
  return step("retry", delivery, { ...clear, ...again, state: "queued" }, now);
}

/** The mailbox is an older copy, which does not know whether and by which transport the message was delivered since. */
export function restored(delivery: Delivery, detail: string, now: number): Step {
  return step("recover", delivery, { ...clear, state: "uncertain", detail, transport: null, authority: null }, now);
}

export function recovered(delivery: Delivery, detail: string, now: number): Step {
  return step("recover", delivery, { ...clear, state: "uncertain", detail }, now);
}

const clear = { lane: null, leaseUntil: null, reason: null, detail: null, reasonAt: null, availableAt: null } as const;

function step(verb: Verb, delivery: Delivery, change: Partial<Delivery> & { state: DeliveryState }, now: number): Step {
  if (!mayFollow(delivery.state, verb, change.state)) {
    throw new TielineError("CONFLICT", `a ${delivery.state} delivery cannot become ${change.state} by ${verb}`, {
      remedy: "`tieline status TAG` shows the state of the delivery",
      operands: { delivery: delivery.id, state: delivery.state, verb },
    });
  }
  const next = {
    ...delivery,
    ...change,
    stateAt: change.state === delivery.state ? delivery.stateAt : now,
    updatedAt: now,
  };
  return { delivery: next, transition: row(verb, delivery.state, next, now) };
}

function row(verb: Verb, from: DeliveryState | null, delivery: Delivery, at: number): Transition {
  const { id, state, reason, detail, proof, transport, authority } = delivery;
  return { delivery: id, at, verb, from, to: state, reason, detail, proof, transport, authority };
}

/** The order in which a lane serves: urgent first, then first in, first out. */
export function servedBefore(a: Delivery, b: Delivery): number {
  return rankOf(a.when) - rankOf(b.when) || a.id - b.id;
}
