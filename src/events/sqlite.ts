import { existsSync, renameSync } from "node:fs";
import { TielineError } from "../model/errors.ts";
import type { Event } from "../model/event.ts";
import { connect, guarded, type Connection } from "../sqlite/connection.ts";
import type { EventStore } from "./store.ts";

const migrations = {
  events: [
    `
    CREATE TABLE events (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, event TEXT NOT NULL) STRICT;
    CREATE INDEX events_by_time ON events (at);
    CREATE TABLE numbers (reserved INTEGER NOT NULL) STRICT;
    INSERT INTO numbers VALUES (0);
    `,
  ],
};

/**
 * Numbers are reserved ahead of their use. After a crash the numbers that watchers may have seen, but that never came
 * to the disk, are not given out again.
 */
const reservation = 10_000;
const pruneBatch = 1_000;

interface Row {
  readonly seq: number;
  readonly at: number;
  readonly event: string;
}

/** A damaged file is moved aside: old events are not worth a daemon that does not start. */
export function openEventStore(path: string, report: (context: string, fault: unknown) => void): EventStore {
  const opened = (): EventStore => guarded(path, () => sqliteEvents(connect(path, migrations), path));
  try {
    return opened();
  } catch (thrown) {
    if (!(thrown instanceof TielineError) || thrown.code !== "STORE_CORRUPT") throw thrown;
    report("events", thrown);
    for (const suffix of ["", "-wal", "-shm"]) if (existsSync(path + suffix)) renameSync(path + suffix, `${path}.damaged${suffix}`);
    return opened();
  }
}

function sqliteEvents(connection: Connection, path: string): EventStore {
  const { database, statement } = connection;
  // A power cut may take the last moments; nobody waits for the disk.
  database.run("PRAGMA synchronous = NORMAL");
  const reserve = (upTo: number): void => void statement("UPDATE numbers SET reserved = ?").run(upTo);
  const highest = number(statement("SELECT max(reserved, ifnull((SELECT max(seq) FROM events), 0)) AS value FROM numbers"));
  let reserved = highest + reservation;
  let last = highest;
  reserve(reserved);

  const add = database.transaction((events: readonly Event[]) => {
    const insert = statement("INSERT INTO events VALUES (?, ?, ?)");
    for (const { seq, at, ...fact } of events) insert.run(seq, at, JSON.stringify(fact));
    last = events.at(-1)?.seq ?? last;
    if (last > reserved - reservation / 2) reserve((reserved = last + reservation));
  });

  return {
    highest,
    add: (events) => guarded(path, () => add(events)),
    after: (seq, limit) => guarded(path, () => rows(statement("SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT ?").all(seq, limit))),
    upTo: (seq, limit) => guarded(path, () => rows(statement("SELECT * FROM events WHERE seq <= ? ORDER BY seq DESC LIMIT ?").all(seq, limit)).toReversed()),
    before: (at) => guarded(path, () => number(statement("SELECT ifnull(min(seq) - 1, ?) AS value FROM events WHERE at >= ?"), last, at)),
    prune({ olderThan, maxBytes }) {
      return guarded(path, () => {
        const aged = statement("DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE at < ? ORDER BY at LIMIT ?)").run(olderThan, pruneBatch);
        if (aged.changes > 0 || usedBytes() <= maxBytes) return aged.changes;
        return statement("DELETE FROM events WHERE seq IN (SELECT seq FROM events ORDER BY seq LIMIT ?)").run(pruneBatch).changes;
      });
    },
    close(given) {
      try {
        guarded(path, () => reserve(given));
      } finally {
        connection[Symbol.dispose]();
      }
    },
  };

  function usedBytes(): number {
    return number(statement("SELECT (page_count - freelist_count) * page_size AS value FROM pragma_page_count, pragma_freelist_count, pragma_page_size"));
  }
}

const rows = (found: unknown[]): Event[] => (found as Row[]).map(({ seq, at, event }) => ({ ...(JSON.parse(event) as Event), seq, at }));

function number(statement: ReturnType<Connection["statement"]>, ...values: number[]): number {
  return (statement.get(...values) as { value: number }).value;
}
