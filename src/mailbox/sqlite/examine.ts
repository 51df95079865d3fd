import { constants, Database } from "bun:sqlite";
import { pathToFileURL } from "node:url";
import { openStates } from "../../model/delivery.ts";
import { corrupt, translate } from "../../os/sqlite/faults.ts";
import { damageIn } from "../../os/sqlite/soundness.ts";
import { isIntact } from "./checksum.ts";
import type { MessageRow } from "./rows.ts";

/** What a file holds that should be a mailbox. */
export interface Examination {
  readonly id: string;
  /** Versions by component. */
  readonly schema: Readonly<Record<string, number>>;
  readonly messages: number;
  /** Deliveries that still owe something. */
  readonly open: number;
  /** When the newest message was accepted; null: there is none. */
  readonly newestAt: number | null;
  /** What is wrong with the file; null: nothing. */
  readonly damage: string | null;
  /** The tags of messages that are not as they were stored. */
  readonly altered: readonly string[];
}

/** A file that another process serves, without its log. Nothing may write to the file meanwhile. */
export const openImmutable = (path: string): Database =>
  new Database(`${pathToFileURL(path).href}?immutable=1`, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI);

const openReadonly = (path: string): Database => new Database(path, { readonly: true });

/**
 * Reads all of a file and changes nothing. Throws STORE_CORRUPT for a file that is no mailbox, or too damaged to tell.
 */
export function examine(path: string, { open = openReadonly } = {}): Examination {
  let database: Database | null = null;
  try {
    database = open(path);
    database.run("PRAGMA busy_timeout = 0");
    return examined(database, path);
  } catch (thrown) {
    throw translate(path, thrown, () => ({ kind: "damaged", what: (thrown as Error).message }));
  } finally {
    database?.close();
  }
}

function examined(database: Database, path: string): Examination {
  const all = <Row>(sql: string): Row[] => {
    using statement = database.prepare<Row, []>(sql);
    return statement.all();
  };
  const tables = new Set(
    all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'").map(({ name }) => name),
  );
  if (!["migrations", "mailbox", "messages", "deliveries"].every((table) => tables.has(table)))
    throw corrupt(path, "it is no mailbox of Tieline");
  const [mailbox] = all<{ id: string }>("SELECT id FROM mailbox");
  if (mailbox === undefined) throw corrupt(path, "it is no mailbox of Tieline");
  const schema = Object.fromEntries(
    all<{ component: string; version: number }>("SELECT * FROM migrations").map(({ component, version }) => [
      component,
      version,
    ]),
  );
  const [counts] = all<{ messages: number; newestAt: number | null }>(
    "SELECT count(*) AS messages, max(accepted_at) AS newestAt FROM messages",
  );
  const states = openStates.map((state) => `'${state}'`).join(", ");
  const [waiting] = all<{ open: number }>(`SELECT count(*) AS open FROM deliveries WHERE state IN (${states})`);
  return { id: mailbox.id, schema, ...counts!, ...waiting!, damage: damageIn(database), altered: alteredIn(database) };
}

function alteredIn(database: Database): string[] {
  using statement = database.prepare<MessageRow, []>("SELECT * FROM messages ORDER BY seq");
  const altered: string[] = [];
  // A file of an older version has no checksums.
  for (const row of statement.iterate()) if (row.checksum !== undefined && !isIntact(row)) altered.push(row.tag);
  return altered;
}
