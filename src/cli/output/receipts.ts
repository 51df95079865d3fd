import type { DeliveryView, ReceiptView, HistoryView } from "../../api/schema.ts";
import { namesFor, qualified, teamOf, type Name } from "./names.ts";
import { present, type Presenting } from "./present.ts";
import { span } from "../input/times.ts";
import type { Paint, TextStyle } from "./terminal.ts";

type State = DeliveryView["state"];

const marks: Record<State, readonly [mark: string, style: TextStyle]> = {
  queued: ["·", "yellow"],
  claimed: ["·", "yellow"],
  delivered: ["✓", "green"],
  seen: ["✓", "green"],
  answered: ["✓", "green"],
  uncertain: ["?", "yellow"],
  failed: ["✗", "red"],
  expired: ["✗", "red"],
  cancelled: ["✗", "dim"],
};

export function mark(state: State, paint: Paint): string {
  const [sign, style] = marks[state];
  return paint(style, sign);
}

/** A tick is for what needs no second look. */
const markOf = ({ state, warning }: DeliveryView, paint: Paint): string =>
  warning === null ? mark(state, paint) : paint("yellow", "!");

export const presentReceipt = (receipt: ReceiptView, context: Presenting): Promise<number> =>
  present(receipt, receiptLines(receipt, context.terminal.paint, context.terminal.now()), context);

/** What became of a message, for people: one line for each recipient, and one more for what else they should know. */
export function receiptLines(
  receipt: ReceiptView | HistoryView,
  paint: Paint,
  now: number,
  nameOf: Name = namesAsWritten(receipt),
): string[] {
  const lines = receipt.deliveries.map((delivery) => deliveryLine(receipt, delivery, paint, now, nameOf));
  if (lines.length === 0)
    lines.push(`${paint("yellow", "·")} ${paint("bold", receipt.tag)} → ${receipt.to}   no recipients`);
  for (const { agent, code, message } of receipt.failed ?? [])
    lines.push(`${paint("red", "✗")} ${agent}   refused, ${code}: ${message}`);
  if (receipt.notice) lines.push(`  ${paint("yellow", receipt.notice)}`);
  return lines;
}

/** Those of other teams with their team, as they are written to. */
export function recipientIn(
  receipt: Pick<ReceiptView, "team" | "to">,
  recipient: Pick<DeliveryView, "agent" | "team">,
): string {
  return namesAsWritten(receipt)(teamOf(receipt, recipient), recipient.agent);
}

/** With the team where the address has it: mail from the user is filed under that team, which is not their own. */
const namesAsWritten = ({ team, to }: Pick<ReceiptView, "team" | "to">): Name =>
  to.includes(":") ? qualified : namesFor(team);

export function deliveryLine(
  receipt: ReceiptView | HistoryView,
  delivery: DeliveryView,
  paint: Paint,
  now: number,
  nameOf: Name = namesAsWritten(receipt),
): string {
  const words = [
    `${markOf(delivery, paint)} ${paint("bold", receipt.tag)} → ${nameOf(teamOf(receipt, delivery), delivery.agent)}`,
    progress(receipt, delivery, now),
    paint("dim", evidence(receipt, delivery)),
    delivery.warning ? paint("yellow", `warning: ${delivery.warning}`) : "",
    ...delivery.notes.map(({ text }) => paint("yellow", text)),
  ];
  return words.filter(Boolean).join("   ");
}

/** `seen after 0.3 s`, or `queued: a permission dialog is open in %14 (for 12 s)`. */
function progress(receipt: ReceiptView, delivery: DeliveryView, now: number): string {
  const { state, reason, stateAt, updatedAt } = delivery;
  switch (state) {
    case "delivered":
    case "seen":
    case "answered":
      return `${state} after ${span(stateAt - receipt.acceptedAt)}`;
    case "queued":
    case "claimed":
      return reason === null ? state : `${state}: ${reason} (for ${span(now - updatedAt)})`;
    default:
      return reason === null ? state : `${state}: ${reason}`;
  }
}

/** How we know: `(tmux, delivered: screen, seen: transcript, as user)`. */
function evidence(receipt: ReceiptView | HistoryView, delivery: DeliveryView): string {
  if (delivery.proof === null) return "";
  const proved = "steps" in receipt ? provedSteps(receipt, delivery.agentId) : [];
  const steps = proved.length > 0 ? proved : [`${delivery.state}: ${delivery.proof}`];
  const readAs = delivery.authority === null ? [] : [`as ${delivery.authority}`];
  return `(${[delivery.transport, ...steps, ...readAs].filter(Boolean).join(", ")})`;
}

/** Every proof once, with the state that it proved, in the order in which they came. */
function provedSteps(history: HistoryView, agentId: string): string[] {
  const proved = history.steps.filter((step) => step.agentId === agentId && step.proof !== null);
  return [...new Set(proved.map(({ to, proof }) => `${to}: ${proof}`))];
}
