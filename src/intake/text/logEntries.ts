/**
 * Splits a growing log file into entries. An entry begins at a line `[YYYY-MM-DD HH:MM:SS] KIND: text` and lasts to the
 * next such line. Only the text of `RES` entries is passed on, and each of them is one turn. It works on bytes, because
 * the place of an entry in its file must be exact.
 */
export type LogPiece =
  | { kind: "entry"; offset: number; /** "2026-01-31 09:00:00" */ loggedAt: string; isResponse: boolean }
  /** Part of the text of the response that began last. */
  | { kind: "text"; bytes: Uint8Array };

export interface LogSplitter {
  /** The pieces that are certain after this chunk. At most a line's beginning is held back. */
  push(chunk: Uint8Array): LogPiece[];
}

const header = /^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\] ([A-Z][A-Z_]{0,15}): ?/;
const longestHeader = 44;
const bracket = 0x5b;
const newline = 0x0a;

/** `offset` is where in the file the first chunk begins; it must be the start of a line. */
export function createLogSplitter(offset = 0): LogSplitter {
  let held = Buffer.alloc(0);
  let atLineStart = true;
  let inResponse = false;

  function push(chunk: Uint8Array): LogPiece[] {
    const bytes =
      held.length === 0 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length) : Buffer.concat([held, chunk]);
    const pieces: LogPiece[] = [];
    let textFrom = 0;
    let end = bytes.length;
    for (let at = nextBracket(bytes, 0, atLineStart); at >= 0; at = nextBracket(bytes, at + 1, false)) {
      const start = bytes.toString("latin1", at, at + longestHeader);
      const match = header.exec(start);
      // One byte more than the header must be there: it may be the space that belongs to it.
      if (match ? start.length === match[0].length : mayBecomeHeader(start)) {
        end = at;
        break;
      }
      if (!match) continue;
      addText(pieces, bytes.subarray(textFrom, at));
      inResponse = match[2] === "RES";
      pieces.push({ kind: "entry", offset: offset + at, loggedAt: match[1]!, isResponse: inResponse });
      textFrom = at + match[0].length;
    }
    addText(pieces, bytes.subarray(textFrom, end));
    if (end > 0) atLineStart = bytes[end - 1] === newline;
    held = Buffer.from(bytes.subarray(end));
    offset += end;
    return pieces;
  }

  function addText(pieces: LogPiece[], bytes: Uint8Array): void {
    if (inResponse && bytes.length > 0) pieces.push({ kind: "text", bytes });
  }

  return { push };
}

/** The next "[" that begins a line, or -1. */
function nextBracket(bytes: Buffer, from: number, atLineStart: boolean): number {
  if (atLineStart && bytes[from] === bracket) return from;
  const at = bytes.indexOf("\n[", Math.max(0, from - 1));
  return at < 0 ? -1 : at + 1;
}

function mayBecomeHeader(start: string): boolean {
  return start.length < longestHeader && !start.includes("\n");
}
