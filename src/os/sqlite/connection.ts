import { Database, type Statement } from "bun:sqlite";
import { closeSync, fstatSync, openSync, statfsSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { TielineError } from "../../model/errors.ts";
import { corrupt, DatabaseTaken, isCorrupt, persistent, translate, unreadableAt, unusable } from "./faults.ts";
import { damageIn, Soundness } from "./soundness.ts";

/**
 * Numbered migrations per component, applied in order. A published one never changes. One that is a function does its
 * own transactions, and may be run again after a crash.
 */
export type Migrations = Readonly<Record<string, readonly Migration[]>>;
export type Migration = string | ((database: Database) => void);

/** Numbers what is written, so that a loss can be noticed. */
export interface Counter {
  /** The next number, for a row of the present transaction. */
  next(): number;
  /** The transaction changed something; called inside the transaction. */
  changed(): void;
  /** All numbers since the last call are in the database for good, or were never given. */
  ended(how: "durable" | "undone"): void;
}

/**
 * A database and its statements. A statement that is still open keeps the lock alive behind a closed connection,
 * so every one is made here and finalized before the database closes.
 */
export interface Connection extends Disposable {
  readonly path: string;
  readonly database: Database;
  statement(sql: string): Statement;
  /** Reads, with SQLite's own errors turned into ours. */
  run<T>(work: () => T): T;
  /** Runs the work as one transaction; durable when it returns. Throws, keeping nothing, when it cannot be. */
  commit<T>(work: () => T): T;
  /** From now on. */
  countBy(counter: Counter): void;
  /** A number that is higher than any before, for a row of the present transaction; null: rows are not numbered. */
  nextNumber(): number | null;
}

/** Throws DatabaseTaken when another process has it. */
export function connect(path: string, migrations: Migrations): Connection {
  const database = secondLook(path, () => openDatabase(path, migrations));
  const statements = new Map<string, Statement>();
  const soundness = soundnessOf(database, migrations);
  let counter: Counter | null = null;
  let failures = 0;

  const statement = (sql: string): Statement => {
    let known = statements.get(sql);
    if (known === undefined) statements.set(sql, (known = database.prepare(sql)));
    return known;
  };
  const translated = (thrown: unknown): unknown => translate(path, thrown, () => soundness.condition());
  const run = <T>(work: () => T): T => {
    try {
      return work();
    } catch (thrown) {
      if (!isCorrupt(thrown) || database.inTransaction) throw translated(thrown);
      return repeated(work);
    }
  };

  /** A read may be repeated, and one that fails only for a moment is none of the caller's business. */
  function repeated<T>(work: () => T, isLast = false): T {
    soundness.forgetPages();
    try {
      return work();
    } catch (thrown) {
      if (!isCorrupt(thrown)) throw translated(thrown);
      const condition = soundness.condition();
      if (isLast || condition.kind !== "sound") throw persistent(path, thrown as Error, condition);
      return repeated(work, true);
    }
  }

  const changes = (): number => (statement("SELECT total_changes() AS n").get() as { n: number }).n;

  function transaction<T>(work: () => T): T {
    if (database.inTransaction) return work();
    statement("BEGIN IMMEDIATE").run();
    const before = changes();
    let result: T;
    let isChanged = false;
    try {
      result = work();
      isChanged = changes() > before;
      if (isChanged) counter?.changed();
      statement("COMMIT").run();
    } catch (thrown) {
      // SQLite rolls some failures back by itself; a second rollback would hide the reason.
      if (database.inTransaction) statement("ROLLBACK").run();
      counter?.ended("undone");
      throw thrown;
    }
    if (isChanged) counter?.ended("durable");
    return result;
  }

  return {
    path,
    database,
    statement,
    run,
    commit(work) {
      try {
        const result = transaction(work);
        failures = 0;
        return result;
      } catch (thrown) {
        if (isCorrupt(thrown) && ++failures > 1) throw persistent(path, thrown as Error, soundness.condition());
        throw translated(thrown);
      }
    },
    countBy(given) {
      counter = given;
    },
    nextNumber: () => counter?.next() ?? null,
    [Symbol.dispose]() {
      for (const one of statements.values()) one.finalize();
      statements.clear();
      database.close(true);
    },
  };
}

/** How often a fault that may pass is looked at again before it is believed, and the pauses before that. */
const secondLooksMs = [20, 200];

/** Opens a file that no connection has open. Damage and I/O errors count only when they are there again. */
export function secondLook<T>(path: string, open: () => T): T {
  for (let look = 0; ; look++) {
    try {
      return open();
    } catch (thrown) {
      if (!mayPass(thrown)) throw thrown;
      const pauseMs = secondLooksMs[look];
      if (pauseMs === undefined) throw unreadable(path) ?? thrown;
      Bun.sleepSync(pauseMs);
    }
  }
}

function mayPass(thrown: unknown): boolean {
  return thrown instanceof TielineError && (thrown.code === "STORE_CORRUPT" || thrown.operands["cause"] === "EIO");
}

/** A sector that cannot be read is not a damaged database, although SQLite calls it that. */
function unreadable(path: string): TielineError | null {
  const bad = unreadableAt(path);
  return (
    bad &&
    unusable(path, "EIO", new Error(`at byte ${bad.offset} or after it: ${bad.cause.message}`, { cause: bad.cause }))
  );
}

/**
 * Opens a database with the exclusive lock that makes its holder the daemon. The lock dies with the process, so
 * nothing is left to clean up after a kill.
 */
function openDatabase(path: string, migrations: Migrations): Database {
  createPrivately(path);
  const database = guarded(
    path,
    null,
    migrations,
    () => new Database(path, { create: true, readwrite: true, strict: true }),
  );
  try {
    guarded(path, database, migrations, () => {
      database.run("PRAGMA busy_timeout = 0");
      database.run("PRAGMA locking_mode = EXCLUSIVE");
      database.run("PRAGMA journal_mode = WAL");
      database.run("PRAGMA synchronous = FULL");
      database.run("PRAGMA foreign_keys = ON");
      database.run("PRAGMA temp_store = MEMORY");
      // A log that grew while checkpoints were held is cut when SQLite starts it again.
      database.run(`PRAGMA journal_size_limit = ${logBytes}`);
      database.run("BEGIN EXCLUSIVE");
      database.run("COMMIT");
      migrate(path, database, migrations);
      layOutLog(`${path}-wal`);
    });
  } catch (thrown) {
    database.close();
    throw thrown;
  }
  return database;
}

function guarded<T>(path: string, database: Database | null, migrations: Migrations, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw translate(path, thrown, () =>
      database ? soundnessOf(database, migrations).condition() : { kind: "damaged", what: (thrown as Error).message },
    );
  }
}

const soundnessOf = (database: Database, migrations: Migrations): Soundness =>
  new Soundness(database, (empty) => migrate(":memory:", empty, migrations));

/** Mail is for its owner only. SQLite gives the files beside a database the mode of the database. */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, "a", 0o600));
  } catch (thrown) {
    throw unusable(path, (thrown as NodeJS.ErrnoException).code ?? "", thrown as Error);
  }
}

/** SQLite restarts its log at this size. */
const logBytes = 4 * 1024 * 1024;

/**
 * Makes the log as long as it gets. While it grows, the file system writes its new length with every commit, which
 * takes half as long again. Zeros behind its last entry are nothing to SQLite, and the lock excludes other processes.
 */
function layOutLog(log: string): void {
  const { bavail, bsize } = statfsSync(dirname(log));
  // Room that is scarce is for mail.
  if (bavail * bsize < 16 * logBytes) return;
  const file = openSync(log, "a", 0o600);
  const missing = logBytes - fstatSync(file).size;
  try {
    if (missing > 0) writeSync(file, new Uint8Array(missing));
  } catch {
    // Over a quota, for one. A shorter log is as good, and SQLite says what it lacks itself.
  } finally {
    closeSync(file);
  }
}

function migrate(path: string, database: Database, migrations: Migrations): void {
  database.run("CREATE TABLE IF NOT EXISTS migrations (component TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT");
  using versions = database.prepare<{ version: number }, [string]>(
    "SELECT version FROM migrations WHERE component = ?",
  );
  for (const [component, steps] of Object.entries(migrations)) {
    const version = versions.get(component)?.version ?? 0;
    if (version > steps.length) throw otherVersion(path, database, component, version);
    for (let next = version; next < steps.length; next++) {
      try {
        apply(database, steps[next]!, `INSERT OR REPLACE INTO migrations VALUES ('${component}', ${next + 1})`);
      } catch (thrown) {
        throw isOtherSchema(thrown) ? wrongSchema(path, component, version, thrown as Error) : thrown;
      }
    }
  }
}

function apply(database: Database, step: Migration, done: string): void {
  if (typeof step === "string") {
    database.run(`BEGIN; ${step}; ${done}; COMMIT`);
  } else {
    step(database);
    database.run(done);
  }
}

/** A table that is there already, or is not: no disk and no rights can be the reason. */
const isOtherSchema = (thrown: unknown): boolean => (thrown as { code?: string }).code === "SQLITE_ERROR";

const wrongSchema = (path: string, component: string, version: number, cause: Error): TielineError =>
  corrupt(
    path,
    `it says that its ${component} schema is ${version}, and its tables are of another one (${cause.message})`,
    cause,
  );

/** A number that comes from a damaged page is no version. */
function otherVersion(path: string, database: Database, component: string, version: number): TielineError {
  const damage = damageIn(database);
  return damage === null ? newerVersion(path, component, version) : corrupt(path, damage);
}

const newerVersion = (path: string, component: string, version: number): TielineError =>
  new TielineError("STORE_UNAVAILABLE", `${path} was written by a newer Tieline (${component} schema ${version})`, {
    remedy: "update Tieline, or set TIELINE_HOME to another directory",
    operands: { path, component, version },
  });

export { DatabaseTaken };
