import type { ReceiptView } from "../../api/schema.ts";
import { addressee, type Name } from "./names.ts";
import { table, type Cell } from "./table.ts";
import type { TextStyle, Terminal } from "./terminal.ts";
import { clockTime } from "../input/times.ts";

/** One line for each message: when, tag, from whom to whom, how far, and what about. */
export function receiptRows(
  receipts: readonly ReceiptView[],
  nameOf: Name,
  { paint, width }: Pick<Terminal, "paint" | "width">,
  now: number,
): string[] {
  const rows = receipts.map((receipt): Cell[] => [
    { text: clockTime(receipt.acceptedAt, now), style: "dim" },
    { text: receipt.tag, style: "bold" },
    { text: `${nameOf(receipt.team, receipt.from)} → ${addressee(receipt, nameOf)}` },
    stateCell(receipt),
    { text: receipt.summary },
  ]);
  return table(["TIME", "TAG", "WAY", "STATE", "ABOUT"], rows, paint, width());
}

/** The state when all share one, else how many are in each. A broadcast may have no recipients. */
function stateCell({ deliveries }: ReceiptView): Cell {
  if (deliveries.length === 0) return { text: "no recipients", style: "yellow" };
  const counts = new Map<string, number>();
  for (const { state } of deliveries) counts.set(state, (counts.get(state) ?? 0) + 1);
  const states = [...counts.keys()];
  const text = states.length === 1 ? states[0]! : states.map((state) => `${counts.get(state)} ${state}`).join(", ");
  return { text, style: styleOf(states) };
}

function styleOf(states: readonly string[]): TextStyle {
  if (states.some((state) => state === "failed" || state === "expired")) return "red";
  return states.every((state) => ["delivered", "seen", "answered"].includes(state)) ? "green" : "yellow";
}
