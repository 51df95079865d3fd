/** What `tmux capture-pane -p -e` printed, and what tmux knows about the pane. Only `lines` is always there. */
export interface Screen {
  /** Raw lines with their SGR sequences; lines of scrollback may come before the visible ones. */
  lines: string[];
  title?: string;
  /** Column and row on the visible screen, from 0. */
  cursor?: { x: number; y: number };
  /** Where it is says nothing. */
  cursorHidden?: boolean;
  /** `#{pane_current_command}` */
  command?: string;
  alternate?: boolean;
  copyMode?: boolean;
  /** The program was started a moment ago, to resume a conversation. */
  resuming?: boolean;
  width?: number;
  height?: number;
}

/** Colours are kept as tmux wrote them (`5;246`, `2;95;95;95`, `31`); the empty string is the terminal's default. */
export interface Style {
  readonly fg: string;
  readonly bg: string;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly reverse: boolean;
}

/** One line without its escapes, and the style that begins at each offset of its text. */
export interface Row {
  readonly text: string;
  readonly spans: readonly { readonly from: number; readonly style: Style }[];
}

const plain: Style = { fg: "", bg: "", bold: false, dim: false, italic: false, reverse: false };

/** Far above any pane, and it bounds the work on a capture with a long scrollback. */
export const maxRows = 300;

// An SGR sequence (captured), or any other escape sequence (dropped).
// oxlint-disable-next-line no-control-regex -- escape sequences are what this reads
const escape = /\x1b(?:\[([0-9;:]*)m|\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)/g;

/** tmux lets a style run on from one line to the next, so the lines are read in order. */
export function parseRows(lines: readonly string[]): Row[] {
  let style = plain;
  return lines.slice(-maxRows).map((line) => {
    const row = parseRow(line, style);
    style = row.end;
    return row;
  });
}

function parseRow(line: string, start: Style): Row & { end: Style } {
  if (!line.includes("\x1b")) return { text: line, spans: [{ from: 0, style: start }], end: start };
  const spans = [{ from: 0, style: start }];
  let style = start;
  let text = "";
  let read = 0;
  for (const match of line.matchAll(escape)) {
    text += line.slice(read, match.index);
    read = match.index + match[0].length;
    if (match[1] === undefined) continue;
    style = applySgr(style, match[1]);
    spans.push({ from: text.length, style });
  }
  return { text: text + line.slice(read), spans, end: style };
}

function applySgr(style: Style, parameters: string): Style {
  const codes = parameters.split(/[;:]/).map(Number);
  let next = style;
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0;
    if (code === 38 || code === 48) {
      const length = codes[i + 1] === 5 ? 2 : 4;
      const colour = codes.slice(i + 1, i + 1 + length).join(";");
      next = code === 38 ? { ...next, fg: colour } : { ...next, bg: colour };
      i += length;
    } else {
      next = applyCode(next, code);
    }
  }
  return next;
}

function applyCode(style: Style, code: number): Style {
  switch (code) {
    case 0:
      return plain;
    case 1:
      return { ...style, bold: true };
    case 2:
      return { ...style, dim: true };
    case 3:
      return { ...style, italic: true };
    case 7:
      return { ...style, reverse: true };
    case 22:
      return { ...style, bold: false, dim: false };
    case 23:
      return { ...style, italic: false };
    case 27:
      return { ...style, reverse: false };
    case 39:
      return { ...style, fg: "" };
    case 49:
      return { ...style, bg: "" };
  }
  if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) return { ...style, fg: String(code) };
  if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) return { ...style, bg: String(code) };
  return style;
}

export function styleAt(row: Row, offset: number): Style {
  let found = plain;
  for (const span of row.spans) {
    if (span.from > offset) break;
    found = span.style;
  }
  return found;
}

/** Whether the capture carries any style at all: without `-e` it does not, and then style proves nothing. */
export function isStyled(rows: readonly Row[]): boolean {
  return rows.some((row) => row.spans.some(({ style }) => style !== plain));
}

export function isColoured(rows: readonly Row[]): boolean {
  return rows.some((row) => row.spans.some(({ style }) => style.fg !== ""));
}

// The grey diagonal of the 256-colour cube, and the grey ones among the sixteen basic colours.
const cubeGreys = new Set([0, 7, 8, 15, 16, 59, 102, 145, 188, 231]);
const basicGreys = new Set([30, 37, 90, 97]);

/** Themes choose different greys, so a rule asks for "some grey", never for one of them. */
export function isGrey(colour: string): boolean {
  const parts = colour.split(";").map(Number);
  const [kind, first = 0, ...rest] = parts;
  if (parts.length === 1) return colour !== "" && basicGreys.has(kind ?? -1);
  if (kind === 5) return first >= 232 || cubeGreys.has(first);
  return Math.max(first, ...rest) - Math.min(first, ...rest) <= 12;
}
