import { type Document, isMap, isPair, isScalar, Lexer, LineCounter, type Node, parseDocument, visit } from "yaml";
import { TielineError } from "../model/errors.ts";
import { formatPlace, type Place } from "../model/place.ts";

export type Path = readonly PropertyKey[];

/** A file's content together with the place of each part. */
export interface Sourced {
  readonly file: string;
  readonly value: unknown;
  /** Of the value at a path or, with a key, of that key in the map at the path. Nearest parent when it is absent. */
  placeOf(path: Path, key?: string): Place;
  /** The line in which a place lies. */
  line(place: Place): string;
}

/** Reads YAML; `firstLine` is for text that begins further down in its file. */
export function parseYaml(file: string, text: string, firstLine = 1): Sourced {
  checkSize(text, { file, line: firstLine, column: 1 });
  const { document, place, placeOf, line } = located(file, text, firstLine);
  const [error] = document.errors;
  if (error) {
    const [summary] = error.message.split(/ at line \d+|\n/, 1);
    throw invalid(place(error.pos[0]), summary!, "correct the YAML at this place");
  }
  const repeated = repeatedKey(document);
  if (repeated) throw invalid(place(repeated.range![0]), "Map keys must be unique", "correct the YAML at this place");
  return { file, value: bounded(expanded(document, place(0)), place(0)) ?? {}, placeOf, line };
}

/** Aliases can make a few lines stand for billions of values; the parser refuses those. */
function expanded(document: Document.Parsed, top: Place): unknown {
  try {
    return document.toJS();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw invalid(
      top,
      `its aliases cannot be expanded: ${reason}`,
      "write the values out instead of repeating them by alias (*name)",
      cause,
    );
  }
}

/** No file that people write is as deep or as large; a value that contains itself is infinitely deep. */
const maxDepth = 64;
const maxValues = 1_000_000;

/** So many list items and keys, and brackets within brackets, are read in a moment. */
const maxEntries = 30_000;
/** Anchors, aliases, tags, directives and documents. */
const maxMarks = 1_000;
/** The lexer announces a scalar by this; the next token is its text. */
const scalarFollows = "\x1f";
/** And a document by this. */
const documentFollows = "\x02";

/** Before the parser, which takes long for what is large and overflows the stack for what is deep. */
function checkSize(text: string, top: Place): void {
  let entries = 0;
  let brackets = 0;
  let onLine = 0;
  let marks = 0;
  let isText = false;
  const indents = new Indents();
  for (const token of new Lexer().lex(text)) {
    const kind = isText ? "" : token;
    isText = !isText && token === scalarFollows;
    indents.take(kind);
    if (kind === "\n" || kind === "\r\n") onLine = 0;
    if (kind === "-" || kind === "?") onLine++;
    if (kind === "[" || kind === "{") brackets++;
    if (kind === "]" || kind === "}") brackets--;
    if (entryTokens.has(kind)) entries++;
    if (/^(?:[&*!%]|---|\.\.\.)/.test(kind)) marks++;
    if (brackets > maxDepth || indents.depth + onLine > maxDepth)
      throw invalid(top, `it is nested deeper than ${maxDepth} levels`, "write it with fewer levels");
    if (marks > maxMarks)
      throw invalid(top, `it has more than ${maxMarks} anchors, aliases, tags and directives`, "write the values out");
    if (entries > maxEntries)
      throw invalid(top, `it has more than ${maxEntries} keys and list items`, "split it, or write less");
  }
}

/** How many lines, each indented further than the one before, the current line is within. */
class Indents {
  private readonly columns: number[] = [];
  /** Blanks so far; null: the line has begun. */
  private blanks: number | null = 0;

  get depth(): number {
    return this.columns.length;
  }

  take(token: string): void {
    if (token === "\n" || token === "\r\n") this.blanks = 0;
    else if (this.blanks === null || token === documentFollows) return;
    else if (/^[ \t]+$/.test(token)) this.blanks += token.length;
    else {
      if (!token.startsWith("#")) this.begin(this.blanks);
      this.blanks = null;
    }
  }

  private begin(column: number): void {
    while (this.columns.length > 0 && this.columns.at(-1)! >= column) this.columns.pop();
    this.columns.push(column);
  }
}

const entryTokens: ReadonlySet<string> = new Set(["-", "?", ":", ",", "[", "{", "]", "}"]);

/** The parser's own check compares each key of a map with each other. */
function repeatedKey(document: Document.Parsed): Node | null {
  let found: Node | null = null;
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) found = key;
        if (found) return visit.BREAK;
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return found;
}

function bounded(value: unknown, top: Place): unknown {
  const pending = [{ value, depth: 0 }];
  let seen = 0;
  for (let next = pending.pop(); next; next = pending.pop()) {
    if (next.depth > maxDepth)
      throw invalid(
        top,
        `it is nested deeper than ${maxDepth} levels, or contains itself by an alias`,
        "write it with fewer levels",
      );
    if (++seen > maxValues) throw invalid(top, `it has more than ${maxValues} values`, "split it, or write less");
    if (typeof next.value !== "object" || next.value === null) continue;
    for (const inner of Object.values(next.value)) pending.push({ value: inner, depth: next.depth + 1 });
  }
  return value;
}

/** Reads JSON. YAML's parser, which takes nearly all JSON, only tells where things stand. */
export function parseJson(file: string, text: string): Sourced {
  const { document, place, placeOf, line } = located(file, text, 1);
  try {
    return { file, value: bounded(JSON.parse(text), place(0)), placeOf, line };
  } catch (cause) {
    if (cause instanceof TielineError) throw cause;
    const reason = cause instanceof Error ? cause.message.replace(/^JSON Parse error: /, "") : String(cause);
    const where = place(document.errors[0]?.pos[0] ?? 0);
    throw invalid(where, `not valid JSON: ${reason}`, "correct the file, or remove it to get the defaults", cause);
  }
}

export function invalid(place: Place, problem: string, remedy: string, cause?: unknown): TielineError {
  return new TielineError("CONFIG_INVALID", `${formatPlace(place)}: ${problem}`, {
    remedy,
    operands: { place },
    cause,
  });
}

function located(file: string, text: string, firstLine: number) {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false, uniqueKeys: false });
  const place = (offset: number): Place => {
    const { line, col } = lineCounter.linePos(offset);
    return { file, line: Math.max(line, 1) + firstLine - 1, column: Math.max(col, 1) };
  };
  const placeOf = (path: Path, key?: string): Place => {
    const node = (path.length === 0 ? document.contents : document.getIn(path as unknown[], true)) as
      | Node
      | null
      | undefined;
    const keyNode = key !== undefined && isMap(node) ? keyIn(node.items, key) : null;
    const at = keyNode ?? node;
    if (at?.range) return place(at.range[0]);
    return path.length === 0 ? place(0) : placeOf(path.slice(0, -1), String(path.at(-1)));
  };
  const lines = text.split("\n");
  const line = (at: Place): string => lines[at.line - firstLine] ?? "";
  return { document, place, placeOf, line };
}

function keyIn(items: readonly unknown[], key: string): Node | null {
  for (const item of items) {
    if (isPair(item) && isScalar(item.key) && String(item.key.value) === key) return item.key;
  }
  return null;
}
