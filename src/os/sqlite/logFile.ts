/**
 * SQLite's write-ahead log, read without SQLite: which pages it holds, up to its last complete transaction. Entries
 * behind a damaged one are nothing to SQLite, and so they are nothing here.
 * https://sqlite.org/fileformat2.html#the_write_ahead_log
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

export interface LogContent {
  /** Where each page begins in the file, in its newest version. */
  readonly pages: ReadonlyMap<number, number>;
  /** How many pages the database has after the last transaction; 0: there is none. */
  readonly size: number;
  readonly pageBytes: number;
}

const headerBytes = 32;
const frameHeaderBytes = 24;
const magic = 0x377f0682;

const nothing: LogContent = { pages: new Map(), size: 0, pageBytes: 0 };

/** Of a file that is missing or is no log: nothing. */
export function readLog(path: string): LogContent {
  const file = openIfThere(path);
  if (file === null) return nothing;
  try {
    return contentOf(file);
  } finally {
    closeSync(file);
  }
}

function contentOf(file: number): LogContent {
  const header = Buffer.alloc(headerBytes);
  if (fstatSync(file).size < headerBytes || readSync(file, header, 0, headerBytes, 0) < headerBytes) return nothing;
  if ((header.readUInt32BE(0) & ~1) !== magic) return nothing;
  const littleEndian = (header.readUInt32BE(0) & 1) === 0;
  const pageBytes = header.readUInt32BE(8);
  let sum = checksum(header, 0, 24, [0, 0], littleEndian);
  if (sum[0] !== header.readUInt32BE(24) || sum[1] !== header.readUInt32BE(28)) return nothing;

  const pages = new Map<number, number>();
  const pending = new Map<number, number>();
  const frame = Buffer.alloc(frameHeaderBytes + pageBytes);
  let size = 0;
  for (let at = headerBytes; readSync(file, frame, 0, frame.length, at) === frame.length; at += frame.length) {
    // Entries of an earlier round have other salts.
    if (frame.compare(header, 16, 24, 8, 16) !== 0) break;
    sum = checksum(frame, 0, 8, sum, littleEndian);
    sum = checksum(frame, frameHeaderBytes, frame.length, sum, littleEndian);
    if (sum[0] !== frame.readUInt32BE(16) || sum[1] !== frame.readUInt32BE(20)) break;
    pending.set(frame.readUInt32BE(0), at + frameHeaderBytes);
    const pagesAfter = frame.readUInt32BE(4);
    if (pagesAfter === 0) continue;
    size = pagesAfter;
    for (const [page, offset] of pending) pages.set(page, offset);
    pending.clear();
  }
  return { pages, size, pageBytes };
}

type Sum = readonly [number, number];

function checksum(bytes: Buffer, from: number, to: number, [start1, start2]: Sum, littleEndian: boolean): Sum {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let [sum1, sum2] = [start1, start2];
  for (let at = from; at < to; at += 8) {
    sum1 = (sum1 + view.getUint32(at, littleEndian) + sum2) >>> 0;
    sum2 = (sum2 + view.getUint32(at + 4, littleEndian) + sum1) >>> 0;
  }
  return [sum1, sum2];
}

function openIfThere(path: string): number | null {
  try {
    return openSync(path, "r");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw thrown;
  }
}
