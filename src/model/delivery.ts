import type { AgentId, DeliveryId, MessageId } from "./ids.ts";
import type { When } from "./message.ts";

/**
 * The life of one message on its way to one agent. This table is the only place that says which state may follow
 * which; the SQLite schema takes its CHECK from it, docs/states.md draws it, a property test walks it.
 */
export const deliveryStates = [
  "queued",
  "claimed",
  "delivered",
  "seen",
  "answered",
  "uncertain",
  "failed",
  "expired",
  "cancelled",
] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export const verbs = [
  "accept",
  "claim",
  "hold",
  "settle",
  "confirm",
  "expire",
  "cancel",
  "retry",
  "recover",
  "abandon",
  "read",
] as const;
export type Verb = (typeof verbs)[number];

type Row = readonly [from: DeliveryState | null, verb: Verb, to: readonly DeliveryState[]];

export const transitions: readonly Row[] = [
  [null, "accept", ["queued"]],
  ["queued", "claim", ["claimed", "failed"]],
  ["queued", "hold", ["queued"]],
  ["queued", "expire", ["expired"]],
  ["queued", "cancel", ["cancelled"]],
  ["queued", "abandon", ["failed"]],
  ["queued", "read", ["delivered", "failed"]],
  ["queued", "confirm", ["queued"]],
  ["claimed", "settle", ["queued", "failed", "delivered", "seen", "uncertain"]],
  ["claimed", "recover", ["uncertain"]],
  ["queued", "recover", ["uncertain"]],
  ["uncertain", "recover", ["uncertain"]],
  ["claimed", "confirm", ["answered"]],
  ["uncertain", "confirm", ["delivered", "seen", "answered"]],
  ["uncertain", "settle", ["queued", "uncertain"]],
  ["uncertain", "retry", ["queued"]],
  ["uncertain", "cancel", ["cancelled"]],
  ["delivered", "confirm", ["delivered", "seen", "answered"]],
  ["delivered", "settle", ["uncertain", "failed"]],
  ["seen", "confirm", ["seen", "answered"]],
  ["failed", "retry", ["queued"]],
  ["failed", "confirm", ["failed"]],
  ["expired", "retry", ["queued"]],
  ["expired", "confirm", ["expired"]],
  ["cancelled", "retry", ["queued"]],
  ["cancelled", "confirm", ["cancelled"]],
];

export function mayFollow(from: DeliveryState | null, verb: Verb, to: DeliveryState): boolean {
  return transitions.some(([f, v, targets]) => f === from && v === verb && targets.includes(to));
}

/** States in which the switch still owes the delivery something. */
export const openStates: readonly DeliveryState[] = ["queued", "claimed", "uncertain"];
export const deadStates: readonly DeliveryState[] = ["failed", "expired"];
/** Attempts that end in an error before the delivery is a dead letter, unless the configuration says otherwise. */
export const defaultMaxAttempts = 3;

/** How we know, weakest first. The last three come from the model's side and mean that the text was seen. */
export const proofs = ["screen", "written", "submitted", "transcript", "tool", "reply"] as const;
export type Proof = (typeof proofs)[number];

export function provesSeen(proof: Proof): boolean {
  return proof === "transcript" || proof === "tool" || proof === "reply";
}

export function strongerProof(current: Proof | null, offered: Proof): boolean {
  return current === null || proofs.indexOf(offered) > proofs.indexOf(current);
}

/**
 * What a program's own transcript says of a message: its model has answered behind it, the conversation holds it, it
 * waits in the program's queue, or nothing.
 */
export type TranscriptProof = "answered" | "given" | "queued" | "none";

/**
 * What a sender should know about how a message was delivered:
 * - `summary-only`: the agent got a summary and a command, and has not fetched the text yet
 * - `fetched`: it has
 * - `degraded`: it could not be delivered as urgently as it was sent
 * - `altered`: the program changed characters of the text
 * - `retrying`: the program cannot reach its model, and tries again
 */
export const noteCodes = ["summary-only", "fetched", "degraded", "altered", "retrying"] as const;
export type NoteCode = (typeof noteCodes)[number];

export interface Note {
  readonly code: NoteCode;
  readonly text: string;
}

/** Whose word the text counts as at the model. */
export type Authority = "user" | "peer";

/** push: we write, one at a time. pull: the agent asks, under a lease, because a caller can die. */
export type Lane = "push" | "pull";
export const pullLeaseMs = 10_000;

export const holdReasons = [
  "busy",
  "dialog",
  "permission",
  "question",
  "draft",
  "typing",
  "copy-mode",
  "starting",
  "offline",
  "limited",
  "unreadable",
  "error",
] as const;
export type HoldReason = (typeof holdReasons)[number];

export interface Hold {
  readonly reason: HoldReason;
  /** For people: "a permission dialog is open in %14". */
  readonly detail: string;
}

/** What a transport reports of one attempt. */
export type Outcome =
  /**
   * `authority`: whose word it counts as, where that differs from message to message. `failure`: the model's API failed
   * with the message in its context, and the program has given up.
   */
  | {
      readonly kind: "delivered";
      readonly proof: Proof;
      readonly detail?: string;
      readonly authority?: Authority;
      readonly notes?: readonly Note[];
      readonly failure?: string;
    }
  /** The moment was wrong; nothing was written. */
  | { readonly kind: "held"; readonly hold: Hold }
  /** The endpoint is not there any more; nothing was written. */
  | { readonly kind: "gone"; readonly detail: string }
  /** The attempt failed and nothing was written. */
  | { readonly kind: "error"; readonly detail: string }
  /** The attempt is proved not to have arrived, as after a crash; it is not an error. */
  | { readonly kind: "absent"; readonly detail: string }
  /**
   * Something may have been written; no proof. `unreadable`: nothing could be read now, so a later inspection may
   * tell.
   */
  | {
      readonly kind: "unknown";
      readonly detail: string;
      readonly authority?: Authority;
      readonly notes?: readonly Note[];
      readonly unreadable?: true;
    }
  /** It was delivered, and left the conversation before the model read it. */
  | { readonly kind: "discarded"; readonly detail: string }
  /** The agent was removed; its mail can never be delivered. */
  | { readonly kind: "removed"; readonly detail: string };

export interface Delivery {
  readonly id: DeliveryId;
  readonly messageId: MessageId;
  readonly agent: AgentId;
  readonly agentName: string;
  readonly state: DeliveryState;
  readonly when: When;
  readonly reason: HoldReason | null;
  readonly detail: string | null;
  /** Since when the present reason holds. */
  readonly reasonAt: number | null;
  readonly attempts: number;
  readonly proof: Proof | null;
  readonly transport: string | null;
  readonly authority: Authority | null;
  /** Something the sender should know although the state is good: a promised proof that did not come. */
  readonly warning: string | null;
  readonly notes: readonly Note[];
  readonly lane: Lane | null;
  /** When the last attempt began. */
  readonly claimedAt: number | null;
  readonly leaseUntil: number | null;
  readonly expiresAt: number | null;
  /** After an error: not before this moment. */
  readonly availableAt: number | null;
  readonly answeredAt: number | null;
  readonly queuedAt: number;
  /** When it came into its present state. */
  readonly stateAt: number;
  readonly updatedAt: number;
}

/** One step in a delivery's history. */
export interface Transition {
  readonly delivery: DeliveryId;
  readonly at: number;
  readonly verb: Verb;
  readonly from: DeliveryState | null;
  readonly to: DeliveryState;
  readonly reason: HoldReason | null;
  readonly detail: string | null;
  readonly proof: Proof | null;
  readonly transport: string | null;
  readonly authority: Authority | null;
  /** So many steps before this one were left out, because the delivery has had too many. */
  readonly leftOut?: number;
}

/** A history that has become this long is shortened. */
export const longestHistory = 100;
const keptAtBegin = 10;
const keptAtEnd = 50;

/** Steps of waiting: a delivery can go through any number of them. */
const repeats = ({ verb, from, to }: Transition): boolean =>
  verb === "confirm" ? from === to : to === "claimed" || (to === "queued" && verb !== "accept");

/**
 * Which steps of a long history may go, and which one then says how many are missing: waiting steps in the middle.
 * Null: it is short enough, or every step matters.
 */
export function shortened(
  history: readonly Transition[],
): { readonly without: readonly number[]; readonly tells: number; readonly leftOut: number } | null {
  if (history.length < longestHistory) return null;
  const tells = history.length - keptAtEnd;
  const without = [...history.keys()].filter((at) => at >= keptAtBegin && at < tells && repeats(history[at]!));
  if (without.length === 0) return null;
  const before = [...without, tells].reduce((sum, at) => sum + (history[at]!.leftOut ?? 0), 0);
  return { without, tells, leftOut: before + without.length };
}

/** What a summary proves: that the model has read it says nothing about the text. */
export const proofOfSummary = (proof: Proof): Proof => (proof === "transcript" ? "submitted" : proof);

export const isSummaryOnly = ({ notes }: { readonly notes?: readonly Note[] }): boolean =>
  notes?.some(({ code }) => code === "summary-only") ?? false;

/** The state that an outcome leads to. Held and gone cost no attempt, because nothing went wrong. */
export function stateAfter(
  outcome: Outcome,
  attempts: number,
  maxAttempts = defaultMaxAttempts,
): { state: DeliveryState; attempts: number } {
  switch (outcome.kind) {
    case "delivered": {
      const proof = isSummaryOnly(outcome) ? proofOfSummary(outcome.proof) : outcome.proof;
      return { state: provesSeen(proof) ? "seen" : "delivered", attempts };
    }
    case "held":
    case "gone":
      return { state: "queued", attempts };
    case "error":
      return { state: attempts + 1 >= maxAttempts ? "failed" : "queued", attempts: attempts + 1 };
    case "absent":
      return { state: "queued", attempts: attempts + 1 };
    case "unknown":
      return { state: "uncertain", attempts };
    case "discarded":
    case "removed":
      return { state: "failed", attempts };
  }
}
