/** The timeline: receipts in the order in which they were accepted, kept up to date by what happens to them. */
import { signal } from "@preact/signals";
import type { DeliveryView, ReceiptView, StreamedEvent } from "../src/client/browser.ts";
import { inTeam } from "./api.ts";
import { hasOlder, messageByTag, timeline, type MessageCell } from "./state.ts";

export type DeliveryFact = Extract<StreamedEvent, { type: `delivery.${string}` }>;
type AcceptedEvent = Extract<StreamedEvent, { type: "message.accepted" }>;

const pageSize = 500;

export function mergeReceipts(receipts: readonly ReceiptView[]): void {
  const fresh: MessageCell[] = [];
  const listed = inTimeline(receipts);
  for (const receipt of receipts) {
    const known = messageByTag.get(receipt.tag);
    if (known) known.receipt.value = receipt;
    if (!listed.has(receipt.tag)) fresh.push(cellOf(receipt));
  }
  if (fresh.length === 0) return;
  const rows = timeline.value;
  const newest = rows.at(-1)?.id ?? "";
  const oldest = rows[0]?.id ?? "";
  if (fresh.every(({ id }) => id > newest)) timeline.value = [...rows, ...fresh];
  else if (fresh.every(({ id }) => id < oldest)) timeline.value = [...fresh, ...rows];
  else timeline.value = [...rows, ...fresh].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** A new message as the log would show it; null: the event does not say enough. */
export function receiptIn(event: AcceptedEvent): ReceiptView | null {
  const { id, tag, from, to, team, recipients, recipientTeams, message } = event;
  if (message === undefined) return null;
  // What is already known is newer than the event.
  const known = messageByTag.get(tag)?.receipt.peek();
  if (known) return known;
  const { recipientIds, ...shown } = message;
  const deliveries = recipients.map((agent, index): DeliveryView => ({
    ...{ agent, agentId: recipientIds[index]!, team: recipientTeams?.[index] ?? null },
    ...{ state: "queued", proof: null, transport: null, authority: null, reason: null, attempts: 0 },
    ...{ warning: null, notes: [], answeredAt: null, stateAt: shown.acceptedAt, updatedAt: shown.acceptedAt },
  }));
  const addressee = deliveries.find(({ agentId }) => agentId === to)?.agent ?? to;
  return { id, tag, from, to: addressee, team, ...shown, deliveries };
}

/** The tags that are in the timeline already; a search may have found others before. */
function inTimeline(receipts: readonly ReceiptView[]): ReadonlySet<string> {
  const wanted = new Set(receipts.map(({ tag }) => tag));
  return new Set(timeline.value.flatMap(({ tag }) => (wanted.has(tag) ? [tag] : [])));
}

/** A cell for a receipt, also for one that is not in the timeline, as when it was found by a search. */
export function cellOf(receipt: ReceiptView): MessageCell {
  const known = messageByTag.get(receipt.tag);
  if (known) return known;
  const cell = { tag: receipt.tag, id: receipt.id, receipt: signal(receipt) };
  messageByTag.set(receipt.tag, cell);
  return cell;
}

/** A cell with what the daemon has just said about its message. */
export function updated(receipt: ReceiptView): MessageCell {
  const cell = cellOf(receipt);
  cell.receipt.value = receipt;
  return cell;
}

/** Forgets the rows, not what is known of each message. */
export function startAnew(): void {
  timeline.value = [];
  hasOlder.value = true;
}

let loadingOlder: Promise<void> | null = null;

export function loadOlder(): Promise<void> {
  const first = timeline.value[0];
  if (!hasOlder.value || first === undefined) return Promise.resolve();
  loadingOlder ??= inTeam(null)
    .call("log", { before: first.id, limit: pageSize })
    .then((receipts) => {
      hasOlder.value = receipts.length === pageSize;
      mergeReceipts(receipts);
    })
    .finally(() => (loadingOlder = null));
  return loadingOlder;
}

/** A fact may come before the receipt that it is about; those of late are kept until then. */
let recent: DeliveryFact[] = [];

export function noteFact(fact: DeliveryFact): void {
  recent.push(fact);
  if (recent.length > 1_000) recent = recent.slice(-500);
}

export function replay(receipts: readonly ReceiptView[]): void {
  const tags = new Set<string>(receipts.map(({ tag }) => tag));
  for (const fact of recent) if (tags.has(fact.tag)) applyDelivery(fact);
}

export function applyDelivery(fact: DeliveryFact): void {
  const cell = messageByTag.get(fact.tag);
  if (!cell) return;
  const receipt = cell.receipt.value;
  const deliveries = receipt.deliveries.map((one) =>
    one.agentId === fact.agent && one.updatedAt <= fact.at ? after(one, fact) : one,
  );
  cell.receipt.value = { ...receipt, deliveries };
}

function after(
  delivery: DeliveryView,
  { to, detail, reason, proof, transport, authority, at }: DeliveryFact,
): DeliveryView {
  return {
    ...delivery,
    state: to,
    reason: detail ?? reason ?? (to === "queued" ? delivery.reason : null),
    proof: proof ?? delivery.proof,
    transport: transport ?? delivery.transport,
    authority: authority ?? delivery.authority,
    answeredAt: to === "answered" ? at : delivery.answeredAt,
    updatedAt: at,
  };
}

/** The recipient's name: a reply is addressed by an id. */
export const recipientOf = ({ to, deliveries }: ReceiptView): string =>
  deliveries.length === 1 ? deliveries[0]!.agent : to;

/** The worst of a message's deliveries speaks for it. */
export function overall({ deliveries }: ReceiptView): DeliveryView["state"] | "no recipients" {
  const worst = [
    "failed",
    "expired",
    "uncertain",
    "queued",
    "claimed",
    "delivered",
    "seen",
    "answered",
    "cancelled",
  ] as const;
  return worst.find((state) => deliveries.some((one) => one.state === state)) ?? "no recipients";
}
