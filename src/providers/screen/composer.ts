import { composed } from "../../model/visible.ts";
import type { ComposerSpec, OneComposerSpec, ScreenManifest } from "./manifest.ts";
import { parseRows, styleAt, type Row, type Screen, type Style } from "./parse.ts";
import { matchesStyle } from "./style.ts";

/** Where the program takes text, found by its frame at the bottom of the screen, never by words. */
export interface Composer {
  /** Rows of the screen: the first and the one after the last that belong to it, borders included. */
  readonly from: number;
  readonly to: number;
  /** The row of the prompt. */
  readonly row: number;
  readonly prompt: Style;
  /** The colour of the border above it; the default where it has none. */
  readonly frame: string;
  /** Its text, row by row, without prompt, frame and ghost text. */
  readonly lines: readonly string[];
  readonly width: number;
  readonly draft: boolean;
}

interface Bounds {
  from: number;
  first: number;
  end: number;
  to: number;
  /** Columns after this one lie outside the box. */
  right: number;
}

interface Slice {
  row: Row;
  start: number;
  end: number;
}

export function findComposer(spec: ComposerSpec, rows: readonly Row[], screen: Screen): Composer | undefined {
  return composerLike(spec, rows, screen) ?? (spec.otherwise && composerLike(spec.otherwise, rows, screen));
}

function composerLike(spec: OneComposerSpec, rows: readonly Row[], screen: Screen): Composer | undefined {
  const bounds = spec.bottom ? framedBounds(spec, spec.bottom, rows) : openBounds(spec, rows);
  if (!bounds) return undefined;
  const slices = textSlices(spec, rows, bounds);
  const [firstSlice] = slices;
  if (!firstSlice) return undefined;
  const prompt = promptOf(spec, firstSlice);
  if (!prompt) return undefined;
  const frame = spec.top ? styleAt(rows[bounds.from]!, 0).fg : "";
  if (spec.promptStyle && !matchesStyle(spec.promptStyle, prompt.style, frame)) return undefined;
  const text = [{ ...firstSlice, start: prompt.end }, ...slices.slice(1)];
  const ghost = isGhost(spec, text, screen);
  const lines = ghost ? [] : trimBlank(text.map(solidText));
  return {
    from: bounds.from,
    to: bounds.to,
    row: bounds.first,
    prompt: prompt.style,
    frame,
    lines,
    width: bounds.right - columnOf(firstSlice.row.text, prompt.end),
    draft: lines.length > 0 || (spec.mode?.test(prompt.text) ?? false),
  };
}

function framedBounds(spec: OneComposerSpec, bottom: RegExp, rows: readonly Row[]): Bounds | undefined {
  const end = rows.findLastIndex((row) => bottom.test(row.text));
  if (end < 1 || countVisible(rows, end + 1) > spec.footer) return undefined;
  const above = rows.slice(0, end);
  const from = spec.top ? above.findLastIndex((row) => spec.top!.test(row.text)) : aboveBox(spec, above);
  if (from === -1 && spec.top) return undefined;
  const right = columnOf(rows[end]!.text, bottom.exec(rows[end]!.text)![0].length);
  return { from: Math.max(from, 0), first: from + 1, end, to: end + 1, right };
}

function aboveBox(spec: OneComposerSpec, above: readonly Row[]): number {
  return above.findLastIndex((row) => !spec.side?.test(row.text));
}

/** The composer's mode may be shown between its upper border and its prompt. */
const headRows = 4;

/** A composer without a frame around it: from its prompt to the last blank row, above the footer. */
function openBounds(spec: OneComposerSpec, rows: readonly Row[]): Bounds | undefined {
  const right = Number.POSITIVE_INFINITY;
  if (spec.footer === 0) {
    const last = rows.length - 1;
    return last < 0 ? undefined : { from: last, first: last, end: rows.length, to: rows.length, right };
  }
  const first = rows.findLastIndex((row) => {
    const found = spec.prompt.exec(row.text);
    return (
      found !== null && (!spec.promptStyle || matchesStyle(spec.promptStyle, styleAt(row, glyphOffset(found)), ""))
    );
  });
  if (first === -1) return undefined;
  const from = spec.top
    ? rows.findLastIndex((row, at) => at < first && first - at <= headRows && spec.top!.test(row.text))
    : first;
  if (from === -1) return undefined;
  const blank = rows.findLastIndex(isBlank);
  const end = blank > first ? blank : rows.length;
  if (countVisible(rows, end) > spec.footer) return undefined;
  const widest = Math.max(...rows.slice(first).map((row) => columnOf(row.text, row.text.length)));
  return { from, first, end, to: end, right: widest };
}

function textSlices(spec: OneComposerSpec, rows: readonly Row[], { first, end, right }: Bounds): Slice[] {
  const slices = rows.slice(first, end).map((row, index): Slice => {
    const side = spec.side?.exec(row.text)?.[0].length ?? 0;
    const indent = index > 0 ? (spec.indent?.exec(row.text.slice(side))?.[0].length ?? 0) : 0;
    const inner = row.text.slice(0, offsetAt(row.text, right)).replace(spec.edge ?? /$/, "");
    return { row, start: side + indent, end: Math.max(inner.length, side + indent) };
  });
  if (!spec.tail) return slices;
  return slices.slice(
    0,
    Math.max(
      slices.findLastIndex((slice) => solidText(slice) === ""),
      1,
    ),
  );
}

function promptOf(
  spec: OneComposerSpec,
  { row, start, end }: Slice,
): { text: string; end: number; style: Style } | undefined {
  const found = spec.prompt.exec(row.text.slice(start, end));
  if (!found) return undefined;
  return { text: found[0], end: start + found[0].length, style: styleAt(row, start + glyphOffset(found)) };
}

function glyphOffset(found: RegExpExecArray): number {
  return Math.max(found[0].search(/[^\s│]/u), 0);
}

/**
 * Suggestions and placeholders are not a draft. They are dim, save for the one character under the drawn cursor; where
 * a program draws them otherwise, the manifest gives their words and the cursor has to stand before them.
 */
function isGhost(spec: OneComposerSpec, slices: readonly Slice[], screen: Screen): boolean {
  const cells = slices.flatMap(visibleCells);
  const solid = cells.filter((cell) => !cell.style.dim);
  if (solid.length < cells.length && solid.length <= 1 && solid.every((cell) => cell.style.reverse)) return true;
  const [firstCell] = cells;
  if (!spec.placeholder || !firstCell) return false;
  const words = slices
    .map(({ row, start, end }) => row.text.slice(start, end))
    .join(" ")
    .trim();
  const { placeholderStyle } = spec;
  if (placeholderStyle && !cells.every((cell) => matchesStyle(placeholderStyle, cell.style, ""))) return false;
  return spec.placeholder.test(words) && (!screen.cursor || screen.cursor.x <= firstCell.column);
}

function visibleCells({ row, start, end }: Slice): { style: Style; column: number }[] {
  const cells = [];
  for (let offset = start; offset < end; offset++) {
    if (/\S/.test(row.text[offset] ?? ""))
      cells.push({ style: styleAt(row, offset), column: columnOf(row.text, offset) });
  }
  return cells;
}

function solidText({ row, start, end }: Slice): string {
  let text = "";
  for (let offset = start; offset < end; offset++) if (!styleAt(row, offset).dim) text += row.text[offset];
  return text.trimEnd();
}

function trimBlank(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => line.trim() !== "");
  return first === -1 ? [] : lines.slice(first, lines.findLastIndex((line) => line.trim() !== "") + 1);
}

/** The draft as one text. A row is taken as wrapped where the next row's first word would not have fitted on it. */
export function composerText({ lines, width }: Composer): string {
  return lines.reduce((text, line, index) => {
    if (index === 0) return line;
    const before = lines[index - 1]!;
    const room = width - columnOf(before, before.length);
    const [word = ""] = line.split(" ");
    if (columnOf(word, word.length) < room - 1) return `${text}\n${line}`;
    return room <= 0 ? text + line : `${text} ${line}`;
  }, "");
}

export type Held = "exactly" | "collapsed" | "empty" | "other";

/**
 * Whether the composer holds our text and nothing else. Programs wrap, indent and trim what they show, so white space
 * does not count; a collapsed paste counts when it is the only thing there and its size is that of our text.
 */
export function composerHolds(manifest: ScreenManifest, screen: Screen, text: string): Held {
  const spec = manifest.composer;
  const composer = spec && findComposer(spec, visibleRows(screen), screen);
  if (!composer) return "other";
  if (!composer.draft) return "empty";
  const shown = bareText(composer.lines.join(""));
  if (shown === bareText(text) || (spec.anyOrder && sameCharacters(shown, bareText(text)))) return "exactly";
  const mark = spec.paste?.exec(composer.lines.map((line) => line.trim()).join(" "));
  return mark && bareText(mark[0]) === shown && sizeMatches(mark.groups ?? {}, text) ? "collapsed" : "other";
}

/** In any order, with any lines drawn between them. */
function sameCharacters(shown: string, text: string): boolean {
  const sorted = (characters: string): string => [...characters.replaceAll(/[│┃|]/g, "")].toSorted().join("");
  return sorted(shown) === sorted(text);
}

function sizeMatches({ lines, chars, units }: Record<string, string | undefined>, text: string): boolean {
  const breaks = text.trim().split(/\r\n|\r|\n/).length - 1;
  // Programs disagree on whether a size in lines counts lines or line breaks.
  if (lines !== undefined) return Number(lines) === breaks || Number(lines) === breaks + 1;
  const size = chars ?? units;
  if (size === undefined) return breaks === 0;
  const normal = text.replace(/\r\n?/g, "\n");
  // Some count code points, others the units of UTF-16, of which an emoji has two.
  return [normal, normal.trim()].some(
    (form) => (units === undefined ? [...form].length : form.length) === Number(size),
  );
}

/**
 * Characters of which a cell may hold several, or none. Of what is longer than a cell can hold, tmux keeps the
 * beginning, and where program and terminal count their width differently, cells of an earlier picture stay between
 * them.
 */
const clustered = /[\p{Cf}\p{M}\p{Extended_Pictographic}\p{Regional_Indicator}\u1100-\u11ff\ud7b0-\ud7ff]/gu;

/**
 * Whether a screen surely shows each character of a text, and nothing between them. Where a tab ends, programs
 * disagree.
 */
export const showsPlainly = (text: string): boolean => text.search(clustered) === -1 && !text.includes("\t");

/** What is compared: without white space and without the characters that a screen may not show as they are. */
export function bareText(text: string): string {
  return composed(text)
    .replace(clustered, "")
    .replace(/[\s\p{Cc}]/gu, "");
}

/** The rows down to the last one that is not blank. */
export function visibleRows(screen: Screen): Row[] {
  const rows = parseRows(screen.lines);
  return rows.slice(0, rows.findLastIndex((row) => !isBlank(row)) + 1);
}

export function isBlank(row: Row): boolean {
  return row.text.trim() === "";
}

function countVisible(rows: readonly Row[], from: number): number {
  return rows.slice(from).filter((row) => !isBlank(row)).length;
}

function columnOf(text: string, offset: number): number {
  return Bun.stringWidth(text.slice(0, offset));
}

function offsetAt(text: string, column: number): number {
  if (Bun.stringWidth(text) <= column) return text.length;
  let offset = 0;
  let width = 0;
  for (const character of text) {
    width += Bun.stringWidth(character);
    if (width > column) break;
    offset += character.length;
  }
  return offset;
}
