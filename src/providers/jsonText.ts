/** JSON files of other programs as text: what changes is edited, and comments and formatting stay. */
import { findNodeAtLocation, parse, parseTree, visit, type JSONPath, type Node, type ParseError } from "jsonc-parser";

/** Accepts comments and trailing commas; null: it is not a JSON object. An empty text is an empty object. */
export function parsedObject(text: string): Record<string, unknown> | null {
  const errors: ParseError[] = [];
  const value: unknown = text.trim() === "" ? {} : parse(text, errors, { allowTrailingComma: true });
  const isObject = errors.length === 0 && typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : null;
}

/** Sets one value; undefined removes it. `insert` puts an element into an array before the one at this place. */
export function withValue(given: string, path: JSONPath, value: unknown, insert = false): string {
  const text = given.trim() === "" ? "{}\n" : given;
  const root = parseTree(text)!;
  const depth = path.findIndex((_, at) => findNodeAtLocation(root, path.slice(0, at + 1)) === undefined);
  const known = depth < 0 ? path : path.slice(0, depth);
  const node = findNodeAtLocation(root, known)!;
  if (depth < 0 && !insert) {
    if (value === undefined) return withoutNode(text, node.parent?.type === "property" ? node.parent : node);
    return spliced(text, [[node.offset, node.length, printed(text, node.offset, value)]]);
  }
  if (value === undefined) return text;
  const [key, ...deeper] = path.slice(insert && depth < 0 ? -1 : known.length);
  const parent = insert && depth < 0 ? findNodeAtLocation(root, path.slice(0, -1))! : node;
  const inner = deeper.reduceRight<unknown>((held, name) => ({ [name]: held }), value);
  return withChild(text, parent, key!, inner);
}

/** Each is an offset, how many characters go there, and what comes instead. */
type Splice = readonly [offset: number, length: number, text: string];

const spliced = (text: string, splices: readonly Splice[]): string =>
  splices
    .toSorted(([a], [b]) => b - a)
    .reduce((present, [at, length, put]) => present.slice(0, at) + put + present.slice(at + length), text);

const eolOf = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n");
const unitOf = (text: string): string => /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
/** The blanks that begin the line of this place. */
const indentAt = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1))![0];

const printed = (text: string, offset: number, value: unknown): string =>
  JSON.stringify(value, null, unitOf(text)).replaceAll("\n", eolOf(text) + indentAt(text, offset));

/** From this place on, where the next comma is, with only blanks and comments before it; -1: there is none. */
function commaAfter(text: string, offset: number): number {
  const found = /^(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*,/.exec(text.slice(offset));
  return found ? offset + found[0].length - 1 : -1;
}

const endOf = ({ offset, length }: Node): number => offset + length;

function withoutNode(text: string, node: Node): string {
  const siblings = node.parent!.children!;
  const before = siblings[siblings.indexOf(node) - 1];
  const own = commaAfter(text, endOf(node));
  const comma = own < 0 && before ? commaAfter(text, endOf(before)) : own;
  const blanks = /(?:\r?\n)?[ \t]*$/.exec(text.slice(0, node.offset))![0].length;
  return spliced(text, [
    [node.offset - blanks, node.length + blanks, ""],
    ...(comma < 0 ? [] : [[comma, 1, ""] as const]),
  ]);
}

/** A new property, or an element before the one at the place; a place that is not taken is the end. */
function withChild(text: string, parent: Node, key: string | number, value: unknown): string {
  const children = parent.children ?? [];
  const inner = text.slice(parent.offset, endOf(parent));
  const [eol, unit, outer] = [eolOf(text), unitOf(text), indentAt(text, parent.offset)];
  const isInline = children.length > 0 && !inner.includes("\n");
  const gap = isInline ? " " : eol + (children[0] ? indentAt(text, children[0].offset) : outer + unit);
  const name = parent.type === "array" ? "" : `${JSON.stringify(key)}: `;
  const plain = isInline
    ? JSON.stringify(value)
    : JSON.stringify(value, null, unit).replaceAll("\n", eol + gap.slice(eol.length));
  const child = name + plain;
  const next = parent.type === "array" ? children[Number(key)] : undefined;
  if (next) return spliced(text, [[next.offset, 0, `${child},${gap}`]]);
  const last = children.at(-1);
  if (!last) return spliced(text, [[parent.offset + 1, 0, `${gap}${child}${inner.includes("\n") ? "" : eol + outer}`]]);
  const trailing = commaAfter(text, endOf(last));
  const end = trailing < 0 ? endOf(last) : trailing + 1;
  const comment = /^[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/)?/.exec(text.slice(end))![0];
  const place = end + (comment.trim() === "" ? 0 : comment.length);
  return trailing < 0
    ? spliced(text, [
        [place, 0, (place === end ? "," : "") + gap + child],
        ...(place === end ? [] : [[end, 0, ","] as const]),
      ])
    : spliced(text, [[place, 0, `${gap}${child},`]]);
}

/** The text with `from` changed into `to`, where `from` is what it says now. */
export function changedText(text: string, from: unknown, to: unknown, path: JSONPath = []): string {
  if (Bun.deepEquals(from, to)) return text;
  if (Array.isArray(from) && Array.isArray(to)) return changedArray(text, from, to, path);
  if (!isRecord(from) || !isRecord(to)) return withValue(text, path, to);
  return [...new Set([...Object.keys(from), ...Object.keys(to)])].reduce((present, key) => {
    if (!(key in to)) return withValue(present, [...path, key], undefined);
    return changedText(present, from[key], to[key], [...path, key]);
  }, text);
}

/** Elements that are the same in both stay where they are; those between them are changed, removed or added. */
function changedArray(text: string, from: readonly unknown[], to: readonly unknown[], path: JSONPath): string {
  const at = (index: number): JSONPath => [...path, index];
  let present = text;
  let place = 0;
  let next = 0;
  for (const [index, old] of from.entries()) {
    const same = to.findIndex((one, position) => position >= next && Bun.deepEquals(one, old));
    const isKeptLater = from.slice(index + 1).some((one) => Bun.deepEquals(one, to[next]));
    if (same >= 0) {
      for (; next < same; next++) present = withValue(present, at(place++), to[next], true);
      next++;
      place++;
    } else if (isRecord(old) && isRecord(to[next]) && !isKeptLater) {
      present = changedText(present, old, to[next++], at(place++));
    } else {
      present = withValue(present, at(place), undefined);
    }
  }
  for (; next < to.length; next++) present = withValue(present, at(place++), to[next], true);
  return present;
}

/** The comments of a text, in order. */
export function commentsIn(text: string): string[] {
  const comments: string[] = [];
  visit(text, { onComment: (offset, length) => void comments.push(text.slice(offset, offset + length).trim()) });
  return comments;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
