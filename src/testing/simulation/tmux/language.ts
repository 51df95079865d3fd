/** tmux's command language, as far as Tieline writes it: words, quotes, braces, and `;` between commands. */

/** A command: its name and its arguments. An argument in braces is a list of commands, kept as text. */
export type Command = readonly string[];

/** Cuts a line into commands. Throws what tmux would print about a line that it cannot read. */
export function parseCommands(line: string): Command[] {
  const commands: string[][] = [];
  let words: string[] = [];
  let at = 0;

  const endCommand = (): void => {
    if (words.length > 0) commands.push(words);
    words = [];
  };

  while (at < line.length) {
    const char = line[at]!;
    if (char === " " || char === "\t") at++;
    else if (char === ";" || char === "\n") {
      endCommand();
      at++;
    } else words.push(char === "{" ? readBraces() : readWord());
  }
  endCommand();
  return commands;

  /** Braces nest; quotes inside them hide braces. */
  function readBraces(): string {
    const begin = at + 1;
    let depth = 0;
    for (; at < line.length; at++) {
      const char = line[at]!;
      if (char === '"' || char === "'") skipQuoted(char);
      else if (char === "{") depth++;
      else if (char === "}" && --depth === 0) return line.slice(begin, at++);
      else if (char === "\\") at++;
      else if (char === "#" && line[at + 1] === "{") skipFormat();
    }
    throw new Error("syntax error");
  }

  function skipQuoted(quote: string): void {
    for (at++; at < line.length && line[at] !== quote; at++) if (quote === '"' && line[at] === "\\") at++;
  }

  function skipFormat(): void {
    let depth = 0;
    for (at++; at < line.length; at++) {
      if (line[at] === "{") depth++;
      else if (line[at] === "}" && --depth === 0) return;
    }
  }

  function readWord(): string {
    let word = "";
    while (at < line.length && !/[\s;]/.test(line[at]!)) {
      const char = line[at]!;
      if (char === '"') word += readDoubleQuoted();
      else if (char === "'") word += readSingleQuoted();
      else if (char === "\\" && at + 1 < line.length) {
        word += line[at + 1];
        at += 2;
      } else {
        word += char;
        at++;
      }
    }
    return word;
  }

  function readDoubleQuoted(): string {
    let text = "";
    for (at++; line[at] !== '"'; at++) {
      if (at >= line.length) throw new Error("syntax error");
      if (line[at] !== "\\") text += line[at];
      else {
        at++;
        text += line[at] === "n" ? "\n" : line[at] === "r" ? "\r" : line[at];
      }
    }
    at++;
    return text;
  }

  function readSingleQuoted(): string {
    const end = line.indexOf("'", at + 1);
    if (end < 0) throw new Error("syntax error");
    const text = line.slice(at + 1, end);
    at = end + 1;
    return text;
  }
}

/** What a format can ask for: a variable by its name, and the scopes over which it can loop. */
export interface FormatScope {
  value(name: string): string;
  /** The panes of the window, for `#{P:…}`. */
  panes(): readonly FormatScope[];
}

/** A format that was read once, and is expanded many times. */
type Expand = (scope: FormatScope) => string;

/** Reads a format: `#{…}` and `##`. */
function compile(format: string): Expand {
  const parts: (string | Expand)[] = [];
  let text = "";
  for (let at = 0; at < format.length; at++) {
    if (format[at] !== "#") text += format[at];
    else if (format[at + 1] === "#") {
      text += "#";
      at++;
    } else if (format[at + 1] === "{") {
      const end = closing(format, at + 1);
      parts.push(text, expression(format.slice(at + 2, end)));
      text = "";
      at = end;
    } else text += "#";
  }
  if (parts.length === 0) return () => text;
  parts.push(text);
  return (scope) => {
    let expanded = "";
    for (const part of parts) expanded += typeof part === "string" ? part : part(scope);
    return expanded;
  };
}

function expression(inner: string): Expand {
  if (inner.startsWith("?")) {
    const [condition = "", yes = "", no = ""] = splitArguments(inner.slice(1));
    const [test, whenTrue, whenFalse] = [operand(condition), compile(yes), compile(no)];
    return (scope) => (isTrue(test(scope)) ? whenTrue(scope) : whenFalse(scope));
  }
  if (inner.startsWith("==:")) {
    const [left, right] = splitArguments(inner.slice(3)).map(compile);
    return (scope) => (left?.(scope) === right?.(scope) ? "1" : "0");
  }
  if (inner.startsWith("m:")) {
    const [pattern, text] = splitArguments(inner.slice(2)).map(compile);
    return (scope) => (new Bun.Glob(pattern?.(scope) ?? "").match(text?.(scope) ?? "") ? "1" : "0");
  }
  const name = inner.slice(2);
  if (inner.startsWith("n:")) return (scope) => String(Buffer.byteLength(scope.value(name)));
  if (inner.startsWith("b:")) return (scope) => scope.value(name).replace(/^.*\//, "");
  if (inner.startsWith("P:")) {
    const each = compile(name);
    return (scope) => scope.panes().map(each).join("");
  }
  return (scope) => scope.value(inner);
}

const isTrue = (value: string): boolean => value !== "" && value !== "0";
const operand = (text: string): Expand => (text.includes("#{") ? compile(text) : (scope) => scope.value(text));

/** What was read before is not read again: Tieline's command lists repeat. */
export class TmuxReadings {
  readonly lines = new Readings(parseCommands);
  readonly formats = new Readings(compile);
}

class Readings<Read> {
  readonly #known = new Map<string, Read>();

  constructor(private readonly read: (text: string) => Read) {}

  of(text: string): Read {
    let known = this.#known.get(text);
    if (known === undefined) {
      if (this.#known.size >= 2_000) this.#known.clear();
      this.#known.set(text, (known = this.read(text)));
    }
    return known;
  }
}

/** The place of the brace that closes the one at `open`. */
function closing(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === "{") depth++;
    else if (text[at] === "}" && --depth === 0) return at;
  }
  return text.length;
}

/** At commas that are in no braces. */
function splitArguments(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "{") depth++;
    else if (text[at] === "}") depth--;
    else if (text[at] === "," && depth === 0) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return [...parts, text.slice(from)];
}
