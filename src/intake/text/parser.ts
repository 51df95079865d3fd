/**
 * Finds the messages in an agent's output, as it arrives.
 *
 *     turn     = { line | block }
 *     address  = "@" name ":" (space | end of line)        "@all:" is a broadcast
 *     block    = "<<SWARM_MSG:" ("TO=" name | "BROADCAST") ":START>>" content "<<SWARM_MSG:END>>"
 *     name     = [A-Za-z_][A-Za-z0-9_-]*
 *
 * An address counts at the start of a line (at most three spaces before it), after "ASST:", and after a sentence. Its
 * message runs to the next address or block, to a turn marker ("USER:", "[2026-01-31 09:00:00]" …) after a blank line,
 * or to the end of the turn. A block counts anywhere in a line; everything up to its END is content, unless another
 * START is at the start of a line: then the first block was never closed. Neither counts inside a code fence, a
 * quoted line, inline code or a quotation on one line; an e-mail address is none because its "@" follows a letter.
 * Content is trimmed. Terminal escape sequences (colours) are removed before anything is looked at.
 * docs/text-protocol.md says the same with examples.
 *
 * The result does not depend on how the text was cut into chunks: a line is looked at only when it is complete, and a
 * marker only when it is complete. What is held back is bounded by `maxContent`: addresses are looked for in the
 * first `maxContent` + 1024 characters of a line, and a longer message is dropped and reported, not kept.
 */
import { brokenOffAt, mayHoldEscapes, withoutEscapes } from "../../model/escapes.ts";
import { addressOf, closesFence, type Fence, isTurnMarker, marksOf, opensFence } from "./line.ts";

export interface ParsedMessage {
  /** A name, or "@all". */
  to: string;
  content: string;
  /** Where its address or START begins, in characters from the start of the turn; rises from message to message. */
  at: number;
}

export type RejectedReason = "unterminated" | "too-long" | "empty" | "malformed";

/** Something that was meant as a message and was not sent. */
export interface RejectedFragment {
  reason: RejectedReason;
  to: string;
  at: number;
  excerpt: string;
}

export interface TextParserOptions {
  /** The longest content in UTF-16 units, without the white space around it. */
  maxContent?: number;
  onRejected?: (fragment: RejectedFragment) => void;
}

export interface TextParser {
  /** The messages that this chunk completed, in order. */
  push(chunk: string): ParsedMessage[];
  /**
   * The turn is over: the messages that its end completed. An unterminated block is rejected. Then a new turn begins.
   */
  end(): ParsedMessage[];
  /** What `end` would return now. Changes and reports nothing. */
  peekEnd(): ParsedMessage[];
  /** What the text so far has begun and not finished. An address is none: its message may end anywhere. */
  unfinished(): "line" | "block" | "fence" | "message" | null;
}

export function createTextParser(options: TextParserOptions = {}): TextParser {
  return new Scanner(options.maxContent ?? 1 << 20, options.onRejected ?? (() => {}), startOfTurn());
}

const prefix = "<<SWARM_MSG:";
const blockMark = /<<SWARM_MSG:(?:(END)>>|(?:TO=([A-Za-z_][A-Za-z0-9_-]{0,127})|BROADCAST):START>>)/y;
const longestMark = 160;
const excerptLength = 120;

interface Opened {
  kind: "address" | "block";
  to: string;
  at: number;
  /** Without white space at either end; only an excerpt once it is too long. */
  content: string;
  /** White space behind the content, which counts only when more follows. */
  blank: string;
  tooLong: boolean;
  /** Where, in the text being scanned, the content not yet in `content` begins. */
  from: number;
  /** Address: the last line was blank. */
  afterBlank: boolean;
  /** Block: the content so far ends a line. */
  atLineStart: boolean;
}

interface Turn {
  /** An escape sequence that waits for its end. */
  escape: string;
  /** Text that waits for the rest of its line or marker. */
  held: string;
  /** How many characters of the turn came before `held`. */
  base: number;
  /** Inside the part of a very long line in which addresses are no longer looked for. */
  pastHead: boolean;
  fence: Fence | undefined;
  open: Opened | undefined;
}

function startOfTurn(): Turn {
  return { escape: "", held: "", base: 0, pastHead: false, fence: undefined, open: undefined };
}

class Scanner implements TextParser {
  private found: ParsedMessage[] = [];
  private readonly maxLine: number;

  constructor(
    private readonly maxContent: number,
    private readonly reject: (fragment: RejectedFragment) => void,
    private turn: Turn,
  ) {
    this.maxLine = maxContent + 1024;
  }

  push(raw: string): ParsedMessage[] {
    const { turn } = this;
    const chunk = this.plain(raw);
    const waitsForLine = turn.open?.kind !== "block" && !turn.pastHead;
    // Joining without looking keeps a long line that comes in small pieces linear.
    if (waitsForLine && !chunk.includes("\n") && turn.held.length + chunk.length <= this.maxLine) {
      turn.held += chunk;
      return [];
    }
    this.scan(turn.held + chunk);
    return this.takeFound();
  }

  /** The text without escape sequences, however they were cut. */
  private plain(raw: string): string {
    const { turn } = this;
    if (turn.escape === "" && !mayHoldEscapes(raw)) return raw;
    const text = turn.escape + raw;
    const at = brokenOffAt(text);
    turn.escape = text.slice(at);
    return withoutEscapes(text.slice(0, at));
  }

  end(): ParsedMessage[] {
    this.turn.escape = "";
    const found = this.push("\n");
    const { open } = this.turn;
    if (open?.kind === "block") this.append(open, this.turn.held);
    if (open) this.finish(open, open.kind === "block" ? "unterminated" : undefined);
    this.turn = startOfTurn();
    return [...found, ...this.takeFound()];
  }

  peekEnd(): ParsedMessage[] {
    const { turn } = this;
    const copy = { ...turn, open: turn.open && { ...turn.open } };
    return new Scanner(this.maxContent, () => {}, copy).end();
  }

  unfinished(): ReturnType<TextParser["unfinished"]> {
    const { open, fence, held, pastHead, escape } = this.turn;
    if (open?.kind === "block") return "block";
    if (fence) return "fence";
    if (held !== "" || pastHead || escape !== "") return "line";
    return open ? "message" : null;
  }

  private takeFound(): ParsedMessage[] {
    const found = this.found;
    this.found = [];
    return found;
  }

  private scan(text: string): void {
    const { turn } = this;
    const seek = seekerOf(text);
    const completeLines = text.lastIndexOf("\n") + 1;
    let at = 0;
    for (let next = -1; at < text.length; at = next) {
      if (turn.open?.kind === "block") next = this.scanBlock(text, at, turn.open, seek);
      else if (turn.pastHead) next = this.skipLine(text, at);
      else if (at < completeLines) next = this.scanLines(text, at, completeLines, seek);
      else if (text.length - at > this.maxLine) next = this.scanHead(text, at);
      else break;
      if (next === at) break;
    }
    if (turn.open) {
      this.append(turn.open, text.slice(turn.open.from, at));
      turn.open.from = 0;
    }
    turn.held = text.slice(at);
    turn.base += at;
  }

  /** Goes through complete lines until a block opens; without an open message, only lines with something to look at. */
  private scanLines(text: string, start: number, limit: number, seek: Seek): number {
    const { turn } = this;
    let at = start;
    while (at < limit) {
      if (!turn.open) {
        const candidate = turn.fence ? seek(turn.fence.run, at) : nextCandidate(seek, at);
        if (candidate >= limit) return limit;
        if (seek("\n", at) < candidate) at = text.lastIndexOf("\n", candidate) + 1;
      }
      const end = seek("\n", at);
      const bare = turn.open !== undefined && nextCandidate(seek, at) > end;
      const blockAt = this.takeLine(text, at, end, bare);
      if (blockAt !== undefined) return blockAt;
      at = end + 1;
    }
    return limit;
  }

  /** A line that is too long to wait for: looks at its head as at a whole line; the rest can only be content. */
  private scanHead(text: string, at: number): number {
    const blockAt = this.takeLine(text, at, text.length, false);
    if (blockAt !== undefined) return blockAt;
    this.turn.pastHead = true;
    return at + this.maxLine;
  }

  private skipLine(text: string, at: number): number {
    const end = text.indexOf("\n", at);
    if (end < 0) return text.length;
    this.turn.pastHead = false;
    return end + 1;
  }

  /** Returns where the content of a block begins when the line opens one. `bare`: it cannot contain an address. */
  private takeLine(text: string, at: number, end: number, bare: boolean): number | undefined {
    const { turn } = this;
    const line = text.slice(at, Math.min(end, at + this.maxLine));
    if (turn.fence) {
      if (closesFence(line, turn.fence)) turn.fence = undefined;
      return undefined;
    }
    if (turn.open && this.endsAtMarker(turn.open, line, end - at)) this.close(text, at);
    if (bare) return undefined;
    turn.fence = opensFence(line);
    if (turn.fence) return undefined;
    for (const mark of marksOf(line)) {
      const position = turn.base + at + mark.at;
      if (mark.kind === "malformed") {
        this.reject({
          reason: "malformed",
          to: "",
          at: position,
          excerpt: line.slice(mark.at, mark.at + excerptLength),
        });
        continue;
      }
      this.close(text, at + mark.at);
      turn.open = opened(mark.kind, mark.to, position, at + mark.end);
      if (mark.kind === "block") return turn.open.from;
    }
    return undefined;
  }

  private endsAtMarker(open: Opened, line: string, length: number): boolean {
    const ends = open.afterBlank && isTurnMarker(line);
    open.afterBlank = length <= this.maxLine && line.trim() === "";
    return ends;
  }

  /** Continues to the end of the block, or as far as no marker can be cut in two. */
  private scanBlock(text: string, start: number, block: Opened, seek: Seek): number {
    for (let from = start; ; from += prefix.length) {
      const at = seek(prefix, from);
      if (at === Infinity) return Math.max(start, text.length - prefix.length + 1);
      from = at;
      blockMark.lastIndex = at;
      const match = blockMark.exec(text);
      if (!match) {
        if (mayStillBecomeMark(text, at)) return at;
        continue;
      }
      const end = at + match[0].length;
      if (match[1]) {
        this.close(text, at);
        return end;
      }
      const startsLine = at > block.from ? text[at - 1] === "\n" : block.atLineStart;
      if (!startsLine) continue;
      this.append(block, text.slice(block.from, at));
      this.finish(block, "unterminated");
      this.turn.open = opened("block", addressOf(match[2] ?? "all"), this.turn.base + at, end);
      return end;
    }
  }

  private close(text: string, at: number): void {
    const { open } = this.turn;
    if (!open) return;
    this.append(open, text.slice(open.from, at));
    this.finish(open);
  }

  private append(open: Opened, text: string): void {
    if (text === "") return;
    open.atLineStart = text.endsWith("\n");
    if (open.tooLong) {
      open.content = (open.content + text).slice(0, excerptLength);
      return;
    }
    const words = open.content === "" ? text.trimStart() : text;
    const said = words.trimEnd();
    open.tooLong = said !== "" && open.content.length + open.blank.length + said.length > this.maxContent;
    if (open.tooLong) open.content = (open.content + open.blank + words).slice(0, excerptLength);
    else if (said !== "") open.content += open.blank + said;
    // More white space than this can only come to nothing, or make the content too long.
    const blank = said === "" ? open.blank + words : words.slice(said.length);
    open.blank = open.content === "" ? "" : blank.slice(0, this.maxContent + excerptLength);
  }

  private finish(open: Opened, failure?: RejectedReason): void {
    this.turn.open = undefined;
    const content = open.content.trimEnd();
    const reason = open.tooLong ? "too-long" : (failure ?? (content === "" ? "empty" : undefined));
    if (reason) this.reject({ reason, to: open.to, at: open.at, excerpt: content.slice(0, excerptLength) });
    else this.found.push({ to: open.to, content, at: open.at });
  }
}

function opened(kind: Opened["kind"], to: string, at: number, from: number): Opened {
  return { kind, to, at, from, content: "", blank: "", tooLong: false, afterBlank: false, atLineStart: true };
}

function mayStillBecomeMark(text: string, at: number): boolean {
  const seen = text.slice(at, at + longestMark);
  return seen.length < longestMark && !/>>|\n/.test(seen);
}

type Seek = (token: string, from: number) => number;

/** `indexOf` (Infinity for none) that remembers its answers, so that the text is searched once per token. */
function seekerOf(text: string): Seek {
  const known = new Map<string, number>();
  return (token, from) => {
    let at = known.get(token);
    if (at === undefined || at < from) {
      at = text.indexOf(token, from);
      if (at < 0) at = Infinity;
      known.set(token, at);
    }
    return at;
  };
}

function nextCandidate(seek: Seek, from: number): number {
  return Math.min(seek("@", from), seek(prefix, from), seek("```", from), seek("~~~", from));
}
