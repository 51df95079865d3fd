import { existsSync, renameSync } from "node:fs";
import { asTielineError, TielineError } from "../model/errors.ts";
import type { Event } from "../model/event.ts";
import { systemClock, systemElapsed, type Clock, type Elapsed } from "../model/ids.ts";
import { blockFor } from "../os/blockFor.ts";
import { connect, DatabaseTaken, type Connection } from "../os/sqlite/connection.ts";
import type { EventStore } from "./store.ts";

const migrations = {
  events: [
    `
    CREATE TABLE events (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, event TEXT NOT NULL) STRICT;
    CREATE INDEX events_by_time ON events (at);
    CREATE TABLE numbers (reserved INTEGER NOT NULL) STRICT;
    INSERT INTO numbers VALUES (0);
    `,
    `
    UPDATE events SET event = json_replace(event, '$.type', 'delivery.delivered')
      WHERE event ->> 'type' = 'delivery.handed';
    UPDATE events SET event = json_replace(event, '$.to', 'delivered')
      WHERE event ->> 'type' LIKE 'delivery.%' AND event ->> 'to' = 'handed';
    UPDATE events SET event = json_replace(event, '$.from', 'delivered')
      WHERE event ->> 'type' LIKE 'delivery.%' AND event ->> 'from' = 'handed';
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

/** How long a file that could not be opened is left alone. */
const retryMs = 5_000;
/** How long a predecessor may take to let go of the file. */
const handoverMs = 500;

/**
 * Losing events loses no mail, so nothing about their file stops the daemon: a damaged one is moved aside, and one that
 * cannot be opened, for lack of space or of rights, is tried again while the daemon runs. Until then events reach
 * listeners, and are not kept.
 */
export function openEventStore(
  path: string,
  report: (context: string, fault: unknown) => void,
  clock: Clock = systemClock,
  elapsed: Elapsed = systemElapsed,
): EventStore {
  let store: FileEvents | null = null;
  let problem: unknown = null;
  let triedAt = 0;

  /** Without the file the last number is unknown; the time in milliseconds is higher than any that was given out. */
  const unknownHighest = clock();

  function tryToOpen(): void {
    triedAt = elapsed();
    try {
      store = patiently(() => opened(0), elapsed);
      problem = store.fault;
    } catch (thrown) {
      problem = thrown;
    }
  }

  function opened(from: number): FileEvents {
    try {
      return sqliteEvents(connect(path, migrations), from);
    } catch (thrown) {
      if (!(thrown instanceof TielineError) || thrown.code !== "STORE_CORRUPT" || from > 0) throw thrown;
      report("events", thrown);
      for (const suffix of ["", "-wal", "-shm"])
        if (existsSync(path + suffix)) renameSync(path + suffix, `${path}.damaged${suffix}`);
      return opened(unknownHighest);
    }
  }

  tryToOpen();
  if (problem !== null) report("open the event log", problem);
  return {
    highest: store === null ? unknownHighest : (store as FileEvents).highest,
    problem: () => (problem === null ? null : asTielineError(problem).message),
    add(events) {
      if (store === null && elapsed() - triedAt >= retryMs) tryToOpen();
      if (store === null) throw problem;
      try {
        store.add(events);
        problem = null;
      } catch (thrown) {
        problem = thrown;
        throw thrown;
      }
    },
    after: (seq, limit) => store?.after(seq, limit) ?? [],
    upTo: (seq, limit) => store?.upTo(seq, limit) ?? [],
    before: (at) => store?.before(at) ?? unknownHighest,
    prune: (bounds) => store?.prune(bounds) ?? 0,
    close: (last) => store?.close(last),
  };
}

function patiently<T>(open: () => T, elapsed: Elapsed): T {
  for (const deadline = elapsed() + handoverMs; ; blockFor(10)) {
    try {
      return open();
    } catch (thrown) {
      if (!(thrown instanceof DatabaseTaken) || elapsed() > deadline) throw thrown;
    }
  }
}

/** `fault`: what kept it from writing at the start; what is there can be read all the same. */
type FileEvents = Omit<EventStore, "problem"> & { readonly fault: unknown };

function sqliteEvents(connection: Connection, from: number): FileEvents {
  const { database, statement, run, commit } = connection;
  const reserve = (upTo: number): void => void statement("UPDATE numbers SET reserved = ?").run(upTo);
  let highest: number;
  try {
    // A power cut may lose the last moments; emitters do not wait for the disk.
    database.run("PRAGMA synchronous = NORMAL");
    const known = "SELECT max(reserved, ifnull((SELECT max(seq) FROM events), 0)) AS value FROM numbers";
    highest = run(() => Math.max(from, number(statement(known))));
  } catch (thrown) {
    connection[Symbol.dispose]();
    throw thrown;
  }
  let reserved = highest;
  let last = highest;
  let fault: unknown = null;
  try {
    run(() => reserve(highest + reservation));
    reserved += reservation;
  } catch (thrown) {
    // A full disk. The first events that fit reserve their numbers.
    fault = thrown;
  }

  function add(events: readonly Event[]): void {
    const newest = events.at(-1)?.seq ?? last;
    const upTo = newest > reserved - reservation / 2 ? newest + reservation : reserved;
    commit(() => {
      const insert = statement("INSERT INTO events VALUES (?, ?, ?)");
      for (const { seq, at, ...fact } of events) insert.run(seq, at, JSON.stringify(fact));
      if (upTo > reserved) reserve(upTo);
    });
    last = newest;
    reserved = upTo;
  }

  return {
    highest,
    fault,
    add,
    after: (seq, limit) =>
      run(() => rows(statement("SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT ?").all(seq, limit))),
    upTo: (seq, limit) =>
      run(() =>
        rows(statement("SELECT * FROM events WHERE seq <= ? ORDER BY seq DESC LIMIT ?").all(seq, limit)).toReversed(),
      ),
    before: (at) =>
      run(() => number(statement("SELECT ifnull(min(seq) - 1, ?) AS value FROM events WHERE at >= ?"), last, at)),
    prune({ olderThan, maxBytes }) {
      return run(() => {
        const aged = statement(
          "DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE at < ? ORDER BY at LIMIT ?)",
        ).run(olderThan, pruneBatch);
        if (aged.changes > 0 || usedBytes() <= maxBytes) return aged.changes;
        return statement("DELETE FROM events WHERE seq IN (SELECT seq FROM events ORDER BY seq LIMIT ?)").run(
          pruneBatch,
        ).changes;
      });
    },
    close(given) {
      try {
        run(() => reserve(given));
      } finally {
        connection[Symbol.dispose]();
      }
    },
  };

  function usedBytes(): number {
    return number(
      statement(
        "SELECT (page_count - freelist_count) * page_size AS value FROM pragma_page_count, " +
          "pragma_freelist_count, pragma_page_size",
      ),
    );
  }
}

const rows = (found: unknown[]): Event[] =>
  (found as Row[]).map(({ seq, at, event }) => ({ ...(JSON.parse(event) as Event), seq, at }));

function number(statement: ReturnType<Connection["statement"]>, ...values: number[]): number {
  return (statement.get(...values) as { value: number }).value;
}
