import { oneLine } from "../../model/visible.ts";
import { fit, type Paint, type TextStyle } from "./terminal.ts";

export interface Cell {
  readonly text: string;
  readonly style?: TextStyle;
}

/** Columns as wide as their content; the last one gives way when the terminal is narrow. */
export function table(
  titles: readonly string[],
  rows: readonly (readonly Cell[])[],
  paint: Paint,
  width = Infinity,
): string[] {
  const head = titles.map((text): Cell => ({ text, style: "dim" }));
  const all = [head, ...rows.map((row) => row.map((cell) => ({ ...cell, text: oneLine(cell.text) })))];
  const widths = titles.map((_, column) => Math.max(...all.map((row) => Bun.stringWidth(row[column]?.text ?? ""))));
  const before = widths.slice(0, -1).reduce((sum, one) => sum + one + gap.length, 0);
  const last = Math.max(12, width - before - 1);
  return all.map((row) => line(row, widths, last, paint));
}

const gap = "   ";

function line(row: readonly Cell[], widths: readonly number[], last: number, paint: Paint): string {
  const cells = row.map(({ text, style }, column) => {
    const isLast = column === widths.length - 1;
    const shown = isLast ? fit(text, last) : text;
    const padding = isLast ? "" : " ".repeat(Math.max(0, widths[column]! - Bun.stringWidth(shown)));
    return (style ? paint(style, shown) : shown) + padding;
  });
  return cells.join(gap).trimEnd();
}
