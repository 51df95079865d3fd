/** Reading files that other programs append lines to, a bounded piece at a time. */
import { openUntrusted, refusalError, type FileRules } from "./untrustedFile.ts";

export interface WholeLines {
  /** Ends with a line break, or is empty. */
  readonly bytes: Buffer;
  /** Where in the file they begin, and where the next line will. */
  readonly from: number;
  readonly end: number;
  readonly inode: number;
  /** There is more in the file than one piece: read on from `end`. */
  readonly more: boolean;
}

/** What is read at once, so that no file keeps the process from its other work for long. */
const pieceBytes = 1 << 20;
/** A line above this is passed over. */
export const longestLineBytes = 16 << 20;

/**
 * Lines that are there whole, from where `begin` says, as many as one piece has; null: there is no file. Throws
 * FILE_REFUSED when it is no file that the rules allow.
 */
export function wholeLines(
  path: string,
  rules: FileRules,
  begin: (file: { readonly size: number; readonly inode: number }) => number,
): WholeLines | null {
  const file = openUntrusted(path, rules);
  if (!file.ok && file.why === "missing") return null;
  if (!file.ok) throw refusalError(path, file);
  using _ = file;
  const { size, ino: inode } = file.stats;
  const from = Math.max(0, begin({ size, inode }));
  let read: Buffer = Buffer.alloc(0);
  let lines = 0;
  while (lines === 0 && read.length < longestLineBytes && from + read.length < size) {
    const piece = file.read(from + read.length, Math.min(pieceBytes, size - from - read.length));
    if (piece.length === 0) break;
    lines = piece.lastIndexOf(0x0a) + 1;
    if (lines > 0) lines += read.length;
    read = read.length === 0 ? piece : Buffer.concat([read, piece]);
  }
  const passedOver = lines === 0 && read.length >= longestLineBytes;
  const end = from + (passedOver ? read.length : lines);
  return { bytes: read.subarray(0, lines), from, end, inode, more: end < size && (lines > 0 || passedOver) };
}
