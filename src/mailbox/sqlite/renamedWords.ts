/** Words of older mailboxes, and what they are called now. */
import type { Database } from "bun:sqlite";
import { checksumOf, isIntact } from "./checksum.ts";
import type { MessageRow } from "./rows.ts";

const states: Readonly<Record<string, string>> = { handed: "delivered" };
const lanes: Readonly<Record<string, string>> = { boundary: "pull" };
/** Which words the columns of deliveries and history hold. */
const columns: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  state: states,
  from_state: states,
  to_state: states,
  lane: lanes,
};

export const renamedStates = Object.keys(states);

/** The present word for what this column held. */
export function presentWord<T>(column: string, value: T): T | string {
  return typeof value === "string" ? (columns[column]?.[value] ?? value) : value;
}

/** Batches keep the log short. */
const batch = 1_000;

/**
 * Replaces the words in all rows. The words are part of the constraints of `deliveries` and `history`, so both tables
 * are made again from their own definitions. Safe to run twice.
 */
export function replaceRenamedWords(database: Database): void {
  renameIdentityProofs(database);
  database.transaction(() => {
    const definitions = definitionsOf(database);
    for (const table of ["deliveries", "history"]) {
      database.run(presentDefinition(definitions.get(table)!).replaceAll(/\b(deliveries|history)\b/g, "$1_next"));
      const names = columnsOf(database, table);
      database.run(
        `INSERT INTO ${table}_next (${names.join(", ")}) SELECT ${names.map(presentValue).join(", ")} FROM ${table}`,
      );
    }
    // The highest number ever given, which can be higher than that of any row.
    database.run(`DELETE FROM sqlite_sequence WHERE name = 'deliveries_next'`);
    database.run(
      `INSERT INTO sqlite_sequence SELECT 'deliveries_next', seq FROM sqlite_sequence WHERE name = 'deliveries'`,
    );
    for (const table of ["history", "deliveries"]) database.run(`DROP TABLE ${table}`);
    for (const table of ["deliveries", "history"]) database.run(`ALTER TABLE ${table}_next RENAME TO ${table}`);
    for (const [name, sql] of definitions)
      if (name !== "deliveries" && name !== "history") database.run(presentDefinition(sql));
  })();
}

/** The verbs that an older mailbox does not know are part of the constraint of `history`. */
export function addVerbs(database: Database): void {
  if (!definitionsOf(database).get("history")!.includes("'abandon'")) replaceRenamedWords(database);
}

/** What is stored of a message is covered by its checksum; one that does not match already must stay so. */
function renameIdentityProofs(database: Database): void {
  using some = database.prepare<MessageRow & { seq: number }, [number]>(
    "SELECT * FROM messages WHERE known_by = 'person' ORDER BY seq LIMIT ?",
  );
  using update = database.prepare<unknown, [string, number]>(
    "UPDATE messages SET known_by = 'user', checksum = ? WHERE seq = ?",
  );
  for (let rows = some.all(batch); rows.length > 0; rows = some.all(batch))
    database.transaction(() => {
      for (const row of rows)
        update.run(isIntact(row) ? checksumOf({ ...row, known_by: "user" }) : (row.checksum ?? ""), row.seq);
    })();
}

/** The two tables and their indexes, by name. */
function definitionsOf(database: Database): Map<string, string> {
  using all = database.prepare<{ name: string; sql: string }, []>(
    "SELECT name, sql FROM sqlite_schema WHERE tbl_name IN ('deliveries', 'history') AND sql IS NOT NULL",
  );
  return new Map(all.all().map(({ name, sql }) => [name, sql]));
}

const presentDefinition = (sql: string): string =>
  sql
    .replaceAll(/handed|boundary/g, (word) => ({ ...states, ...lanes })[word]!)
    .replace("'retry', 'recover')", "'retry', 'recover', 'abandon', 'read')");

function columnsOf(database: Database, table: string): string[] {
  using info = database.prepare<{ name: string }, []>(`PRAGMA table_info(${table})`);
  return info.all().map(({ name }) => name);
}

function presentValue(column: string): string {
  const words = Object.entries(columns[column] ?? {});
  const cases = words.map(([before, now]) => `WHEN '${before}' THEN '${now}'`);
  return cases.length === 0 ? column : `CASE ${column} ${cases.join(" ")} ELSE ${column} END`;
}
