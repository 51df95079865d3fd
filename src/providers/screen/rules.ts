import { isBlank, type Composer } from "./composer.ts";
import type { Condition, ScreenRule, StyleSpec } from "./manifest.ts";
import { isColoured, isStyled, styleAt, type Row, type Screen } from "./parse.ts";
import { matchesStyle } from "./style.ts";

/** A screen after parsing, as the rules look at it. */
export interface View {
  readonly screen: Screen;
  readonly rows: readonly Row[];
  readonly composer: Composer | undefined;
}

export function ruleHolds(rule: ScreenRule, view: View): boolean {
  return (
    rule.all.every((condition) => conditionHolds(condition, view)) &&
    !rule.none.some((condition) => conditionHolds(condition, view))
  );
}

function conditionHolds(condition: Condition, view: View): boolean {
  const { screen, composer } = view;
  return (
    (!condition.title || (screen.title !== undefined && condition.title.test(screen.title))) &&
    (!condition.command || (screen.command !== undefined && condition.command.test(screen.command))) &&
    (!condition.composer || composerIs(condition.composer, composer)) &&
    (!condition.prompt ||
      (composer !== undefined && matchesStyle(condition.prompt, composer.prompt, composer.frame))) &&
    (!condition.cursor || cursorIs(condition.cursor, view)) &&
    (condition.alternate === undefined || (screen.alternate ?? false) === condition.alternate) &&
    (condition.styled === undefined || isStyled(view.rows) === condition.styled) &&
    (condition.coloured === undefined || isColoured(view.rows) === condition.coloured) &&
    (condition.resuming === undefined || (screen.resuming ?? false) === condition.resuming) &&
    lineHolds(condition, view)
  );
}

function composerIs(wanted: NonNullable<Condition["composer"]>, composer: Composer | undefined): boolean {
  switch (wanted) {
    case "present":
      return composer !== undefined;
    case "absent":
      return composer === undefined;
    case "empty":
      return composer !== undefined && !composer.draft;
    case "draft":
      return composer?.draft ?? false;
  }
}

/** How far `capture-pane -S -30` shifts the rows against the cursor when the height is not known. */
const scrollback = 30;

function cursorIs(wanted: NonNullable<Condition["cursor"]>, { screen, rows, composer }: View): boolean {
  if (wanted === "hidden") return screen.cursorHidden ?? false;
  if (wanted === "drawn")
    return screen.cursorHidden !== false && drawsCursor(rows.slice(composer?.from ?? 0, composer?.to ?? 0));
  if (!screen.cursor) return wanted === "composer";
  // Programs that draw a cursor of their own hide the real one and leave it in their composer. Elsewhere it proves
  // nothing.
  if (screen.cursorHidden && wanted === "last") return false;
  const [from, to] = wanted === "last" ? [rows.length - 1, rows.length] : [composer?.from ?? 0, composer?.to ?? 0];
  const shift = Math.max(screen.lines.length - (screen.height ?? screen.lines.length), 0);
  const slack = screen.height === undefined ? scrollback : 0;
  const row = screen.cursor.y + shift;
  // A program without a prompt waits in the row below what it printed.
  if (wanted === "last" && screen.cursor.x === 0 && row === rows.length) return true;
  return row >= from - slack && row < to;
}

/**
 * One cell. tmux leaves blanks at the end of a row out, so that it may have no text; its style then ends in the next
 * row.
 */
function drawsCursor(rows: readonly Row[]): boolean {
  const reversed = rows.flatMap(({ text, spans }) =>
    spans.flatMap(({ from, style }, at) => {
      const to = spans[at + 1]?.from ?? text.length;
      return style.reverse && (from > 0 || to > 0) ? [[...text.slice(from, to)].length] : [];
    }),
  );
  return reversed.length === 1 && reversed[0]! <= 1;
}

function lineHolds(condition: Condition, view: View): boolean {
  const { line } = condition;
  const coloured = isColoured(view.rows);
  const [style, whole] = [condition.style, condition.whole].map((spec) => spec && onScreen(spec, coloured));
  if (!line && !whole) return true;
  const frame = view.composer?.frame ?? "";
  return regionOf(condition, view).some((row) => {
    const found = line ? line.exec(row.text) : /\S/.exec(row.text);
    if (!found) return false;
    if (style && !matchesStyle(style, styleAt(row, styledOffset(row, found)), frame)) return false;
    return !whole || visibleOffsets(row).every((offset) => matchesStyle(whole, styleAt(row, offset), frame));
  });
}

function onScreen({ fg, ...spec }: StyleSpec, coloured: boolean): StyleSpec {
  if (fg !== "accent") return { fg, ...spec };
  return coloured ? { fg: "other", ...spec } : spec;
}

function styledOffset(row: Row, found: RegExpExecArray): number {
  const at = found.groups?.["at"];
  const start = at === undefined ? found.index : row.text.indexOf(at, found.index);
  return start + Math.max(row.text.slice(start).search(/\S/), 0);
}

function visibleOffsets(row: Row): number[] {
  return [...row.text.matchAll(/\S/g)].map((match) => match.index);
}

function regionOf(
  { in: region = "bottom", rows: limit = Number.POSITIVE_INFINITY }: Condition,
  { rows, composer }: View,
): readonly Row[] {
  const above = composer ? rows.slice(0, composer.from) : [];
  switch (region) {
    case "screen":
      return rows;
    case "bottom":
      return lastVisible(rows, limit);
    case "above":
      return lastVisible(above, limit);
    case "paragraph":
      return lastParagraph(above);
    case "below":
      return composer
        ? rows
            .slice(composer.to)
            .filter((row) => !isBlank(row))
            .slice(0, limit)
        : [];
    case "composer":
      return composer ? rows.slice(composer.from, composer.to) : [];
  }
}

/** The non-blank rows nearest above the composer. */
export const rowsAbove = (view: View, limit: number): readonly Row[] => regionOf({ in: "above", rows: limit }, view);

function lastVisible(rows: readonly Row[], limit: number): readonly Row[] {
  const found = [];
  for (let index = rows.length - 1; index >= 0 && found.length < limit; index--) {
    const row = rows[index]!;
    if (!isBlank(row)) found.push(row);
  }
  return found;
}

function lastParagraph(rows: readonly Row[]): readonly Row[] {
  const end = rows.findLastIndex((row) => !isBlank(row)) + 1;
  return rows.slice(rows.slice(0, end).findLastIndex(isBlank) + 1, end);
}
