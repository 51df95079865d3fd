import { summarise } from "./summary.ts";
import type { AgentId, Clock, MessageId, RandomBytes, Tag } from "./ids.ts";
import { systemClock, systemRandom, tagOf, uuidv7 } from "./ids.ts";
import { userId, userName, switchId, switchName } from "./agent.ts";
import type { Delivery } from "./delivery.ts";
import { TielineError } from "./errors.ts";

export const maxBodyBytes = 1024 * 1024;

/** When the text should reach the model: at idle, after the current tool, before the next tool. */
export const whens = ["interrupt", "tool", "turn"] as const;
export type When = (typeof whens)[number];
/** Lower is served first. */
export const rankOf = (when: When): number => whens.indexOf(when);

export const kinds = [
  "text",
  "ack",
  "bounce",
  "shutdown_request",
  "shutdown_response",
  "plan_approval_request",
  "plan_approval_response",
  "permission_request",
  "permission_response",
  "idle_notification",
] as const;
export type Kind = (typeof kinds)[number];

/** Acks and bounces wait in the inbox until their reader looks; they never start a turn, so they cannot make loops. */
export const wakes = (kind: Kind): boolean => kind !== "ack" && kind !== "bounce";

/** What a user can approve or deny. */
export const requestKinds = [
  "plan_approval_request",
  "permission_request",
  "shutdown_request",
] as const satisfies readonly Kind[];
export type RequestKind = (typeof requestKinds)[number];
export const isRequest = (kind: Kind): kind is RequestKind => (requestKinds as readonly Kind[]).includes(kind);

/** Programs talk to programs in these, as JSON; no model reads them as text. */
export const isProtocol = (kind: Kind): boolean => !["text", "ack", "bounce"].includes(kind);

/** How the switch knows who wrote, strongest first. */
export const identityProofs = [
  "token",
  "session",
  "process",
  "pane",
  "workspace",
  "stream",
  "object",
  "user",
  "switch",
] as const;
export type IdentityProof = (typeof identityProofs)[number];

export interface Sender {
  readonly id: AgentId;
  readonly name: string;
  readonly team: string;
  readonly knownBy: IdentityProof;
}

/** What a sender writes. Everything that is not here is decided when the draft is sealed. */
export interface Draft {
  readonly to: string;
  readonly body: string;
  readonly summary?: string;
  readonly kind?: Kind;
  readonly when?: When;
  readonly inReplyTo?: MessageId;
  readonly expectsReply?: boolean;
  readonly ttlMs?: number;
  readonly idempotencyKey?: string;
  /** A broadcast starts offline members only when asked to. */
  readonly spawn?: boolean;
  /** With interrupt: also stop a running generation. */
  readonly hard?: boolean;
}

/** Immutable from acceptance on. */
export interface Message {
  readonly id: MessageId;
  readonly tag: Tag;
  readonly from: Sender;
  readonly to: string;
  /** Where it is filed: the sender's team; of mail from the user, the recipients' team if they share one. */
  readonly team: string;
  readonly body: string;
  readonly summary: string;
  readonly kind: Kind;
  readonly when: When;
  readonly hard: boolean;
  readonly inReplyTo: MessageId | null;
  /** The id of the first message of the conversation. */
  readonly thread: MessageId;
  readonly expectsReply: boolean;
  /** May this message start a recipient that is offline? */
  readonly starts: boolean;
  readonly expiresAt: number | null;
  readonly hops: number;
  readonly idempotencyKey: string | null;
  readonly acceptedAt: number;
}

/** What sealing needs to know about the conversation that a draft continues. */
export interface Continuation {
  readonly inReplyTo: Message | null;
  readonly hops: number;
  readonly starts?: boolean;
  /** Where it is filed; left out: under the sender's team. */
  readonly team?: string;
}

export interface Seal {
  readonly clock?: Clock;
  readonly random?: RandomBytes;
}

/** The longest time to live: longer than anyone waits, and short enough for every calendar. */
export const longestTtlMs = 366 * 86_400_000;

function checkTtl(ttlMs: number | undefined): void {
  if (ttlMs === undefined || (Number.isInteger(ttlMs) && ttlMs >= 1 && ttlMs <= longestTtlMs)) return;
  throw new TielineError(
    "USAGE",
    `ttlMs is ${ttlMs}, but must be a whole number of milliseconds from 1 to ${longestTtlMs} (366 days)`,
    {
      remedy: "give a shorter time, or leave it out: then the message never expires",
      operands: { ttlMs, least: 1, most: longestTtlMs },
    },
  );
}

/** Turns a draft into a message: id, tag, time, thread. A tag that is taken already draws a new id. */
export function seal(
  draft: Draft,
  from: Sender,
  { inReplyTo, hops, starts = false, team = from.team }: Continuation,
  { clock = systemClock, random = systemRandom }: Seal = {},
): Message {
  checkBody(draft.body);
  checkTtl(draft.ttlMs);
  const now = clock();
  const id = uuidv7(now, random) as MessageId;
  return {
    id,
    tag: tagOf(from.name, id),
    from,
    to: draft.to,
    team,
    body: draft.body,
    summary: draft.summary ?? summarise(draft.body),
    kind: draft.kind ?? "text",
    when: draft.when ?? "turn",
    hard: draft.hard ?? false,
    inReplyTo: inReplyTo?.id ?? null,
    thread: inReplyTo?.thread ?? id,
    expectsReply: draft.expectsReply ?? false,
    starts,
    expiresAt: draft.ttlMs === undefined ? null : now + draft.ttlMs,
    hops,
    idempotencyKey: draft.idempotencyKey ?? null,
    acceptedAt: now,
  };
}

/** Tells a sender that a message of theirs will not arrive. A bounce never bounces, and acks do not either. */
export function sealBounce(lost: Message, delivery: Delivery, cause: string, options: Seal = {}): Message | null {
  if (!wakes(lost.kind) || lost.from.id === switchId) return null;
  const from: Sender = { id: switchId, name: switchName, team: lost.team, knownBy: "switch" };
  const body = [
    `${lost.tag} to ${delivery.agentName} was not delivered: ${cause}`,
    `retry: tieline retry ${lost.tag} · details: tieline status ${lost.tag}`,
  ].join("\n");
  const draft: Draft = { to: lost.from.id === userId ? "user" : lost.from.name, body, kind: "bounce" };
  return seal(draft, from, { inReplyTo: lost, hops: lost.hops }, options);
}

/** Tells a sender that it is not known whether a message of theirs arrived. */
export function sealDoubt(
  message: Message,
  delivery: Delivery,
  idempotencyKey: string,
  options: Seal = {},
): Message | null {
  if (!wakes(message.kind) || message.from.id === switchId) return null;
  const from: Sender = { id: switchId, name: switchName, team: message.team, knownBy: "switch" };
  const { tag } = message;
  const body = [
    `It is not known whether ${tag} arrived at ${delivery.agentName}: ${delivery.detail ?? "nothing tells"}. ` +
      "It is not sent again by itself.",
    `If it did not arrive: tieline retry ${tag} · if it did: tieline cancel ${tag} · details: tieline status ${tag}`,
  ].join("\n");
  const to = message.from.id === userId ? userName : message.from.name;
  return seal({ to, body, kind: "bounce", idempotencyKey }, from, { inReplyTo: message, hops: message.hops }, options);
}

/** A reply goes to the sender itself, wherever it is, by its id. */
export function replyAddress({ from, tag }: Message): string {
  if (from.id === userId) return userName;
  if (from.id !== switchId) return from.id;
  throw new TielineError("TARGET_NOT_FOUND", `${tag} is a notice from Tieline, which takes no replies`, {
    remedy: "there is no sender to reply to",
  });
}

/** Two sends with one key are the same send only if they say the same. */
export function sameContent(a: Message, b: Message): boolean {
  return a.to === b.to && a.body === b.body && a.kind === b.kind && a.when === b.when && a.inReplyTo === b.inReplyTo;
}

function checkBody(body: string): void {
  if (body.trim() === "") {
    throw new TielineError("BODY_EMPTY", "the message is empty", {
      remedy: "write some text, or use -f FILE or - for stdin",
    });
  }
  if (!body.isWellFormed() || body.includes("\0")) {
    throw new TielineError("BODY_NOT_TEXT", "the message is not valid text", {
      remedy: "send UTF-8 text without NUL bytes; put binary data in a file and send its path",
    });
  }
  const bytes = new TextEncoder().encode(body).length;
  if (bytes > maxBodyBytes) {
    throw new TielineError("BODY_TOO_LONG", `the message has ${bytes} bytes; the limit is ${maxBodyBytes}`, {
      remedy: "put the text in a file and send its path",
      operands: { bytes, limit: maxBodyBytes },
    });
  }
}
