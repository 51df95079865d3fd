/**
 * Reads the rows of a damaged database page by page, without its schema, so that a damaged page costs only its own
 * rows. https://sqlite.org/fileformat2.html
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { readLog, type LogContent } from "./logFile.ts";

export type SqliteValue = null | number | string | Uint8Array;

export interface SalvagedRow {
  readonly rowid: number;
  readonly values: readonly SqliteValue[];
}

/** Longer than any row that is stored. A damaged length must not exhaust the memory. */
const maxPayloadBytes = 16 * 1024 * 1024;

/** Rows of all tables, in no particular order; the caller recognises them by their shape. */
export function* salvagedRows(path: string): Generator<SalvagedRow> {
  using pages = new Pages(path);
  const free = pages.free();
  for (let number = 1; number <= pages.count; number++) {
    // A free page still holds deleted rows.
    if (!free.has(number)) yield* rowsOn(pages, number);
  }
}

/** A database with its log; a page in the log takes precedence. */
class Pages implements Disposable {
  readonly count: number;
  readonly bytes: number;
  /** Without what extensions of SQLite may keep at the end of a page. */
  readonly usable: number;
  readonly #log: LogContent;
  readonly #files: readonly [database: number | null, log: number | null];

  constructor(path: string) {
    this.#files = [openIfThere(path), openIfThere(`${path}-wal`)];
    this.#log = readLog(`${path}-wal`);
    const [database] = this.#files;
    const header = database === null ? null : chunk(database, 0, 100);
    const isHeader = header?.subarray(0, 15).toString("latin1") === "SQLite format 3";
    const told = isHeader ? header!.readUInt16BE(16) : 0;
    this.bytes = this.#log.pageBytes || (told === 1 ? 65_536 : isPageSize(told) ? told : 4_096);
    this.usable = this.bytes - (isHeader ? header![20]! : 0);
    const size = database === null ? 0 : fstatSync(database).size;
    this.count = Math.max(Math.ceil(size / this.bytes), this.#log.size, ...this.#log.pages.keys());
  }

  page(number: number): Buffer | null {
    const [database, log] = this.#files;
    const inLog = this.#log.pages.get(number);
    if (inLog !== undefined && log !== null) return chunk(log, inLog, this.bytes);
    return database === null || number < 1 || number > this.count
      ? null
      : chunk(database, (number - 1) * this.bytes, this.bytes);
  }

  free(): ReadonlySet<number> {
    const free = new Set<number>();
    let trunk = this.page(1)?.readUInt32BE(32) ?? 0;
    while (trunk > 0 && trunk <= this.count && !free.has(trunk)) {
      free.add(trunk);
      const page = this.page(trunk);
      if (page === null) break;
      const leaves = Math.min(page.readUInt32BE(4), this.usable / 4 - 2);
      for (let at = 0; at < leaves; at++) free.add(page.readUInt32BE(8 + 4 * at));
      trunk = page.readUInt32BE(0);
    }
    return free;
  }

  [Symbol.dispose](): void {
    for (const file of this.#files) if (file !== null) closeSync(file);
  }
}

const tableLeaf = 0x0d;

function* rowsOn(pages: Pages, number: number): Generator<SalvagedRow> {
  const page = pages.page(number);
  const start = number === 1 ? 100 : 0;
  if (page === null || page[start] !== tableLeaf) return;
  const cells = page.readUInt16BE(start + 3);
  for (let at = start + 8; at < Math.min(start + 8 + 2 * cells, pages.usable - 1); at += 2) {
    const row = rowAt(pages, page, page.readUInt16BE(at));
    if (row !== null) yield row;
  }
}

/** Null: there is no valid row. */
function rowAt(pages: Pages, page: Buffer, offset: number): SalvagedRow | null {
  try {
    const length = varint(page, offset);
    const rowid = varint(page, offset + length.bytes);
    const values = valuesIn(payloadAt(pages, page, offset + length.bytes + rowid.bytes, length.value));
    return values && { rowid: rowid.value, values };
  } catch (thrown) {
    // Beyond the end of the page, of the chain or of the text.
    if (thrown instanceof RangeError || thrown instanceof TypeError) return null;
    throw thrown;
  }
}

/** A long row continues on a chain of other pages. */
function payloadAt(pages: Pages, page: Buffer, offset: number, length: number): Buffer {
  if (length > maxPayloadBytes) throw new RangeError("too long");
  const most = pages.usable - 35;
  const least = Math.floor(((pages.usable - 12) * 32) / 255) - 23;
  const wanted = least + ((length - least) % (pages.usable - 4));
  const local = length <= most ? length : wanted <= most ? wanted : least;
  if (offset + local > pages.usable) throw new RangeError("beyond the page");
  const parts = [page.subarray(offset, offset + local)];
  let next = local < length ? page.readUInt32BE(offset + local) : 0;
  for (let missing = length - local; missing > 0; missing -= pages.usable - 4) {
    const more = pages.page(next);
    if (more === null) throw new RangeError("the chain is broken");
    parts.push(more.subarray(4, 4 + Math.min(missing, pages.usable - 4)));
    next = more.readUInt32BE(0);
  }
  return Buffer.concat(parts);
}

function valuesIn(payload: Buffer): SqliteValue[] | null {
  const header = varint(payload, 0);
  const kinds: number[] = [];
  for (let at = header.bytes; at < header.value;) {
    const kind = varint(payload, at);
    kinds.push(kind.value);
    at += kind.bytes;
  }
  const values: SqliteValue[] = [];
  let at = header.value;
  for (const kind of kinds) {
    const bytes = bytesOf(kind);
    if (bytes === null || at + bytes > payload.length) return null;
    values.push(valueOf(kind, payload.subarray(at, at + bytes)));
    at += bytes;
  }
  return at === payload.length ? values : null;
}

const intBytes = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0];

const bytesOf = (kind: number): number | null =>
  kind < 10 ? intBytes[kind]! : kind < 12 ? null : Math.floor((kind - 12) / 2);

function valueOf(kind: number, bytes: Buffer): SqliteValue {
  if (kind === 0) return null;
  if (kind === 7) return bytes.readDoubleBE(0);
  if (kind === 6) return Number(bytes.readBigInt64BE(0));
  if (kind < 7) return bytes.readIntBE(0, bytes.length);
  if (kind < 10) return kind - 8;
  return kind % 2 === 1 ? bytes.toString("utf8") : Uint8Array.from(bytes);
}

function varint(bytes: Buffer, at: number): { value: number; bytes: number } {
  let value = 0n;
  for (let read = 0; read < 9; read++) {
    const byte = bytes[at + read];
    if (byte === undefined) throw new RangeError("beyond the end");
    if (read === 8) return { value: Number(BigInt.asIntN(64, (value << 8n) | BigInt(byte))), bytes: 9 };
    value = (value << 7n) | BigInt(byte & 0x7f);
    if (byte < 0x80) return { value: Number(value), bytes: read + 1 };
  }
  throw new RangeError("no number");
}

const isPageSize = (bytes: number): boolean => bytes >= 512 && bytes <= 32_768 && (bytes & (bytes - 1)) === 0;

/** Zeros where the file ends. */
function chunk(fd: number, offset: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  readSync(fd, bytes, 0, length, offset);
  return bytes;
}

function openIfThere(path: string): number | null {
  try {
    return openSync(path, "r");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw thrown;
  }
}
