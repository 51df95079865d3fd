/**
 * Where a command prints. Everything goes through here: what agents wrote can neither steer a terminal nor hide, and no
 * text begins a line unless the command meant one. Colour and lines that change in place are for terminals only.
 */
import { systemClock, uuidv4 } from "../../model/ids.ts";
import { oneLine, visible, visibleJson } from "../../model/visible.ts";
import { isoTime } from "../input/times.ts";

/** One line, or several; a newline inside a line is shown and does not begin another. */
export type Lines = string | readonly string[];

export interface Terminal {
  /** stdout is a terminal: text may be redrawn in place. */
  readonly interactive: boolean;
  readonly paint: Paint;
  print(lines: Lines): Promise<void>;
  complain(lines: Lines): Promise<void>;
  /** A text with lines of its own, without a newline behind it. */
  text(text: string): Promise<void>;
  /** As `text` on a terminal; byte for byte into a file or a pipe. */
  body(text: string): Promise<void>;
  /** Without a newline: the answer is typed behind it. */
  ask(question: string): Promise<void>;
  json(value: unknown): Promise<void>;
  /** On a terminal: draws these lines over the ones drawn before, and answers how many there are now. */
  redraw(lines: readonly string[], before: number): Promise<number>;
  cursor(shown: boolean): Promise<void>;
  /** Columns that a line may have; unlimited without a terminal. */
  width(): number;
  /** Rows of the terminal. */
  height(): number;
  /** The time of day, by which what is shown is old or new. */
  now(): number;
}

interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
  /** The last lines of a program that exited at once. The message has the very last. */
  readonly output?: readonly string[] | undefined;
}

/** As every refusal is shown to people. */
export const errorText = ({ code, message, remedy, output = [] }: Refusal): string[] => [
  `error ${code}: ${message}`,
  ...(output.length > 1 ? output.map((line) => `  | ${line}`) : []),
  `  ${remedy}`,
];

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
export type TextStyle = keyof typeof codes;
/** Marks a part of a line for a colour. */
export type Paint = (style: TextStyle, text: string) => string;

export const plain: Paint = (_style, text) => text;

export function openTerminal(env: Readonly<Record<string, string | undefined>>): Terminal {
  const interactive = isTerminal(1);
  const { paint, rendered, bare } = interactive && !env["NO_COLOR"] && env["TERM"] !== "dumb" ? colours() : colourless;
  const line = (text: string): string => rendered(text, oneLine);
  const several = (lines: Lines): string =>
    typeof lines === "string" ? `${line(lines)}\n` : lines.map((one) => `${line(one)}\n`).join("");
  const text = (whole: string): Promise<void> => put(Bun.stdout, rendered(whole, visible));
  const width = (): number => (interactive ? process.stdout.columns || 80 : Infinity);

  return {
    interactive,
    paint,
    print: (lines) => put(Bun.stdout, several(lines)),
    complain: (lines) => put(Bun.stderr, several(lines)),
    text,
    body: (whole) => (interactive ? text(whole) : put(Bun.stdout, whole)),
    ask: (question) => put(Bun.stdout, `${line(question)} `),
    json: (value) => put(Bun.stdout, `${visibleJson(toJson(value))}\n`),
    async redraw(lines, before) {
      const drawn = lines.map((one) => `\r\u001b[2K${cut(one)}\n`).join("");
      await put(Bun.stdout, `${before > 0 ? `\u001b[${before}A` : ""}${drawn}\u001b[J`);
      return lines.length;
    },
    cursor: (shown) => put(Bun.stdout, shown ? "\u001b[?25h" : "\u001b[?25l"),
    width,
    height: () => process.stdout.rows || 24,
    now: systemClock,
  };

  /** A line that wraps could not be redrawn. */
  function cut(text: string): string {
    const shown = oneLine(bare(text));
    return Bun.stringWidth(shown) < width() ? line(text) : fit(shown, width() - 1);
  }
}

/** Cut to that many columns, with an ellipsis in the last one. */
export function fit(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text;
  let kept = "";
  for (const character of text) {
    if (Bun.stringWidth(kept + character) > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

interface Colours {
  readonly paint: Paint;
  /** Each part between the marks made safe, and the marks as colours. */
  rendered(text: string, safe: (part: string) => string): string;
  /** Without the marks. */
  bare(text: string): string;
}

const colourless: Colours = { paint: plain, rendered: (text, safe) => safe(text), bare: (text) => text };

/** The marks are random for every run, so that no text can hold them. */
function colours(): Colours {
  const key = uuidv4();
  const marks = new RegExp(`${key}(\\d+);`);
  return {
    paint: (style, text) => (text === "" ? "" : `${key}${codes[style]};${text}${key}0;`),
    // Every other part is what a mark holds.
    rendered: (text, safe) =>
      text
        .split(marks)
        .map((part, at) => (at % 2 === 0 ? safe(part) : `\u001b[${part}m`))
        .join(""),
    bare: (text) =>
      text
        .split(marks)
        .filter((_, at) => at % 2 === 0)
        .join(""),
  };
}

/** Touching `process.stdout` or node:tty loads streams and sockets, which takes longer than a whole `tieline send`. */
export function isTerminal(fd: number): boolean {
  const { binding } = process as unknown as { binding(name: "tty_wrap"): { isTTY(fd: number): boolean } };
  return binding("tty_wrap").isTTY(fd);
}

/** Bun empties the file behind stdout or stderr when it writes an empty text. */
async function put(where: Bun.BunFile, text: string): Promise<void> {
  if (text !== "") await Bun.write(where, text);
}

/** Times are ISO-8601 in UTC, so that every language can read them. */
function toJson(value: unknown): string {
  return JSON.stringify(value, (key, inner: unknown) =>
    typeof inner === "number" && (key === "at" || key === "timestamp" || key.endsWith("At")) ? isoTime(inner) : inner,
  );
}
