/** The rules about one line of an agent's output: what opens a fence, what is quoted, what is an address. */

const indent = /^\s*/;
const speaker = /^\s*ASST:\s*/;
const listItem = /^(?:(?:[-*+]|\d{1,9}[.)])\s+)+/;
const blockquote = /^\s*(?:ASST:\s*)?>/;
const fenceOpening = /^\s*(?:ASST:\s*)?(?:(?:[-*+]|\d{1,9}[.)])\s+)*(`{3,}|~{3,})(.*)$/s;
const turnMarker = /^\s*(?:(?:ASST|USER|SYS|SYSTEM|TOOL|REQ|RES):(?:\s|$)|\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\])/;

/**
 * Group 2: the name of an address, which may be emphasised together with its colon or without it. Group 3: the name in
 * a block marker. Neither: a broadcast or a broken marker.
 */
const marks = new RegExp(
  [
    /(\*{1,3}|_{1,3}|)@([A-Za-z_][A-Za-z0-9_-]{0,127}?)(?::\1|\1:)(?=\s|$)/,
    /<<SWARM_MSG:(?:(?:TO=([A-Za-z_][A-Za-z0-9_-]{0,127})|BROADCAST):START>>)?/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);

export interface Fence {
  /** Three of the fence's character, to search for. */
  run: "```" | "~~~";
  length: number;
}

export interface LineMark {
  kind: "address" | "block" | "malformed";
  to: string;
  /** Where the mark begins and where it ends, in characters from the start of the line. */
  at: number;
  end: number;
}

export function opensFence(line: string): Fence | undefined {
  const [, ticks, info = ""] = fenceOpening.exec(line) ?? [];
  if (ticks === undefined) return undefined;
  const run = ticks.startsWith("`") ? "```" : "~~~";
  // A backtick after the opening run makes it inline code, as in ```this```.
  return run === "```" && info.includes("`") ? undefined : { run, length: ticks.length };
}

export function closesFence(line: string, fence: Fence): boolean {
  const text = line.trim();
  return text.length >= fence.length && text === fence.run[0]!.repeat(text.length);
}

/** A line that names a speaker or begins a log entry; after a blank line it ends an open message. */
export function isTurnMarker(line: string): boolean {
  return turnMarker.test(line);
}

/** All addresses in the line, left to right. */
export function* marksOf(line: string): Generator<LineMark> {
  if (blockquote.test(line)) return;
  const body = bodyOf(line);
  const quoted = quotationsOf(line);
  for (const match of line.matchAll(marks)) {
    const at = match.index;
    const end = at + match[0].length;
    if (match[2] !== undefined) {
      const isFirst = at === body?.at;
      if ((isFirst || followsSentence(line, at)) && !quoted(at))
        yield { kind: "address", to: addressOf(match[2]), at: isFirst ? body.from : at, end };
    } else if (!quoted(at)) {
      if (match[0].endsWith(">>")) yield { kind: "block", to: addressOf(match[3] ?? "all"), at, end };
      else if (!line.startsWith("END>>", end)) yield { kind: "malformed", to: "", at, end };
    }
  }
}

export function addressOf(name: string): string {
  return name === "all" ? "@all" : name;
}

/**
 * Where an address may be the first thing of the line, and its list marker before it; null: Markdown reads it as code.
 */
function bodyOf(line: string): { readonly from: number; readonly at: number } | null {
  const speaking = speaker.exec(line)?.[0].length;
  const from = speaking ?? indent.exec(line)![0].length;
  if (speaking === undefined && (from > 3 || line.slice(0, from).includes("\t"))) return null;
  return { from, at: from + (listItem.exec(line.slice(from))?.[0].length ?? 0) };
}

const closers = new Set(`"'”’»)]*_\``);
const sentenceEnds = new Set(".!?…");
const wideSentenceEnds = new Set("。！？");

function followsSentence(line: string, at: number): boolean {
  let before = at - 1;
  while (before >= 0 && /\s/.test(line[before]!)) before--;
  const spaced = before < at - 1;
  while (before >= 0 && closers.has(line[before]!)) before--;
  if (before < 0) return false;
  return (spaced && sentenceEnds.has(line[before]!)) || wideSentenceEnds.has(line[before]!);
}

/**
 * Answers, for rising positions, whether a position lies inside inline code or a quotation: opened before it and closed
 * after it on the same line. It walks the line once, so that a line full of addresses costs no more than its length.
 */
function quotationsOf(line: string): (at: number) => boolean {
  let seenTo = 0;
  /** The characters that would close what is open, with the place of the last one in the line. */
  const open = new Map<string, number>();
  const close = (closer: string) => open.delete(closer);
  const lastSeen = new Map<string, number>();
  const begin = (closer: string) => {
    if (!lastSeen.has(closer)) lastSeen.set(closer, line.lastIndexOf(closer));
    open.set(closer, lastSeen.get(closer)!);
  };
  return (at) => {
    for (const token of line.slice(seenTo, at).matchAll(/`+|["“”«»']/g)) {
      const [text] = token;
      if (text === "“") begin("”");
      else if (text === "«") begin("»");
      else if (text === "”" || text === "»") close(text);
      else if (text === "'") {
        if (!close("'") && opensSingleQuote(line, seenTo + token.index)) begin("'");
      } else if (!close(text[0]!)) begin(text[0]!);
    }
    seenTo = at;
    for (const last of open.values()) if (last >= at) return true;
    return false;
  };
}

/** An apostrophe within or after a word opens nothing. */
function opensSingleQuote(line: string, at: number): boolean {
  return (at === 0 || /[\s([]/.test(line[at - 1]!)) && /\S/.test(line[at + 1] ?? " ");
}
