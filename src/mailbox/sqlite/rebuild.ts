/** A new mailbox from the rows that can still be read of a damaged one. */
import { deliveryStates, verbs } from "../../model/delivery.ts";
import { kinds, whens } from "../../model/message.ts";
import type { Connection } from "../../os/sqlite/connection.ts";
import { isSqlite } from "../../os/sqlite/faults.ts";
import { salvagedRows, type SalvagedRow, type SqliteValue } from "../../os/sqlite/salvage.ts";
import { checksumOf, isIntact } from "./checksum.ts";
import { presentWord, renamedStates } from "./renamedWords.ts";
import type { MessageRow } from "./rows.ts";
import { countHistory } from "./statistics.ts";

export interface Rebuilt {
  readonly messages: number;
  readonly deliveries: number;
  readonly documents: number;
  /** The tags of messages that were altered; they are kept, but never delivered. */
  readonly damaged: readonly string[];
  /** The tags of messages that lost all their deliveries, so that no agent gets them. */
  readonly withoutDelivery: readonly string[];
  /** For each delivery whose message is lost, the name of its recipient. */
  readonly withoutMessage: readonly string[];
  /** Deliveries of which only steps of their history are left. */
  readonly lostDeliveries: number;
  /** The id of the mailbox; null: it is lost. */
  readonly id: string | null;
}

type Row = Record<string, SqliteValue>;

const tables = ["messages", "deliveries", "history", "documents"] as const;
type Table = (typeof tables)[number];
/** In the order of the schema, because a salvaged row has values but no names. Rows of older versions end earlier. */
type Columns = Readonly<Record<Table, readonly string[]>>;

/** Reads the damaged file, and fills a new one that has all tables and nothing in them. */
export function rebuild(damagedFile: string, into: Connection): Rebuilt {
  const columns = columnsOf(into);
  const withoutMessage = new Map<number, string>();
  const historyAlone = new Set<number>();
  let id: string | null = null;
  // A row that refers to another one comes after it.
  insertAll(into, rowsIn(damagedFile, columns), (table, row) => {
    if (table === "messages") putMessage(into, row);
    if (table === "documents") insert(into, table, row);
  });
  insertAll(into, rowsIn(damagedFile, columns), (table, row) => {
    if (table === "deliveries" && !putDelivery(into, row))
      withoutMessage.set(row["id"] as number, String(row["agent_name"]));
  });
  insertAll(into, rowsIn(damagedFile, columns), (table, row) => {
    if (table === "history" && !insert(into, table, row)) historyAlone.add(row["delivery"] as number);
  });
  countHistory(into.database);
  for (const { values } of salvagedRows(damagedFile)) if (isMailbox(values)) id = values[0] as string;

  const number = (sql: string): number => (into.statement(sql).get() as { n: number }).n;
  const isThere = (delivery: number): boolean =>
    into.statement("SELECT 1 FROM deliveries WHERE id = ?").get(delivery) !== null;
  const lost = [...historyAlone].filter((delivery) => !withoutMessage.has(delivery) && !isThere(delivery));
  return {
    messages: number("SELECT count(*) AS n FROM messages"),
    deliveries: number("SELECT count(*) AS n FROM deliveries"),
    documents: number("SELECT count(*) AS n FROM documents"),
    damaged: [...damagedTags(into)],
    withoutDelivery: withoutDelivery(into, lost),
    withoutMessage: [...withoutMessage.values()],
    lostDeliveries: lost.length,
    id,
  };
}

/**
 * A broadcast may have reached no one, so it counts only if deliveries are lost whose numbers are between those of the
 * messages before and after it: deliveries are numbered in the order in which messages are accepted.
 */
function withoutDelivery({ statement }: Connection, lost: readonly number[]): string[] {
  const bare =
    "SELECT seq, tag, to_text AS address FROM messages m WHERE NOT EXISTS (SELECT 1 FROM deliveries WHERE " +
    "message = m.seq) ORDER BY seq";
  const around = statement(
    "SELECT (SELECT max(id) FROM deliveries WHERE message < $seq) AS before, (SELECT min(id) FROM deliveries " +
      "WHERE message > $seq) AS after",
  );
  const hadSome = (seq: number): boolean => {
    const { before, after } = around.get({ seq } as never) as { before: number | null; after: number | null };
    return lost.some((delivery) => delivery > (before ?? 0) && delivery < (after ?? Infinity));
  };
  const rows = statement(bare).all() as { seq: number; tag: string; address: string }[];
  return rows.filter(({ seq, address }) => !/^[@*]/.test(address) || hadSome(seq)).map(({ tag }) => tag);
}

function* damagedTags({ statement }: Pick<Connection, "statement">): Generator<string> {
  for (const row of statement("SELECT * FROM messages ORDER BY seq").iterate())
    if (!isIntact(row as MessageRow)) yield (row as MessageRow).tag;
}

function columnsOf({ statement }: Connection): Columns {
  const names = (table: Table): string[] =>
    (statement(`PRAGMA table_info(${table})`).all() as { name: string }[]).map(({ name }) => name);
  return Object.fromEntries(tables.map((table) => [table, names(table)])) as unknown as Columns;
}

function* rowsIn(path: string, columns: Columns): Generator<readonly [Table, Row]> {
  for (const row of salvagedRows(path)) {
    const table = tableOf(row);
    if (table !== null) yield [table, withNames(row, table, columns[table])];
  }
}

function withNames({ rowid, values }: SalvagedRow, table: Table, columns: readonly string[]): Row {
  const isRenamed = table === "deliveries" || table === "history";
  const row: Row = Object.fromEntries(
    columns.slice(0, values.length).map((name, at) => [name, isRenamed ? presentWord(name, values[at]!) : values[at]!]),
  );
  if (table === "documents") return row;
  // The first column is the row id, which SQLite does not store among the values.
  const numbered: Row = { ...row, [columns[0]!]: rowid };
  if (table !== "messages" || numbered["checksum"] !== undefined) return numbered;
  return { ...numbered, checksum: checksumOf(numbered as unknown as MessageRow) };
}

const knownStates = [...deliveryStates, ...renamedStates];
const isText = (value: SqliteValue | undefined): value is string => typeof value === "string";
const isOneOf = (value: SqliteValue | undefined, words: readonly string[]): boolean =>
  isText(value) && words.includes(value);

function tableOf({ values }: SalvagedRow): Table | null {
  const { length } = values;
  if (
    length >= 22 &&
    /^[0-9a-f-]{36}$/.test(String(values[1])) &&
    isText(values[9]) &&
    isOneOf(values[11], kinds) &&
    isOneOf(values[12], whens)
  )
    return "messages";
  if (length >= 23 && typeof values[1] === "number" && isOneOf(values[4], knownStates) && isOneOf(values[5], whens))
    return "deliveries";
  if (length >= 11 && isOneOf(values[3], verbs) && isOneOf(values[5], knownStates)) return "history";
  return length === 3 && values.every(isText) && isJson(values[2] as string) ? "documents" : null;
}

const isMailbox = (values: readonly SqliteValue[]): boolean =>
  (values.length === 1 || values.length === 2) && /^[0-9a-f]{12}$/.test(String(values[0]));

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Rows per transaction. */
const batch = 1_000;

function insertAll(
  into: Connection,
  rows: Iterable<readonly [Table, Row]>,
  put: (table: Table, row: Row) => void,
): void {
  let some: (readonly [Table, Row])[] = [];
  const flush = (): void => into.commit(() => some.forEach(([table, row]) => put(table, row)));
  for (const row of rows) {
    if (some.push(row) < batch) continue;
    flush();
    some = [];
  }
  flush();
}

/** A doubled page may hold a second version; the intact one counts. */
function putMessage(into: Connection, row: Row): void {
  if (insert(into, "messages", row) || !isIntact(row as unknown as MessageRow)) return;
  const known = into.statement("SELECT * FROM messages WHERE seq = ?").get(row["seq"] as number) as MessageRow | null;
  if (known === null || isIntact(known)) return;
  into.statement("DELETE FROM messages WHERE seq = ?").run(row["seq"] as number);
  insert(into, "messages", row);
}

/** The same for deliveries, where the newest version counts. False: its message is lost. */
function putDelivery(into: Connection, row: Row): boolean {
  if (into.statement("SELECT 1 FROM messages WHERE seq = ?").get(row["message"] as number) === null) return false;
  const known = into.statement("SELECT updated_at AS at FROM deliveries WHERE id = ?").get(row["id"] as number) as {
    at: number;
  } | null;
  if (known !== null && known.at >= Number(row["updated_at"])) return true;
  if (known !== null) into.statement("DELETE FROM deliveries WHERE id = ?").run(row["id"] as number);
  // No process is behind a claim any more.
  insert(
    into,
    "deliveries",
    row["state"] === "claimed" ? { ...row, state: "uncertain", lane: null, lease_until: null } : row,
  );
  return true;
}

/** False: the current schema refuses the row, or has it already. */
function insert({ statement }: Connection, table: Table, row: Row): boolean {
  const names = Object.keys(row);
  const sql =
    `INSERT OR IGNORE INTO ${table} (${names.join(", ")}) VALUES ` + `(${names.map((name) => `$${name}`).join(", ")})`;
  try {
    return statement(sql).run(row as never).changes > 0;
  } catch (thrown) {
    if (isSqlite(thrown) && /^SQLITE_(CONSTRAINT|MISMATCH)/.test(thrown.code)) return false;
    throw thrown;
  }
}
