import { Database, SQLiteError, type Statement } from "bun:sqlite";
import { closeSync, fstatSync, openSync, statfsSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { TielineError } from "../model/errors.ts";

/** Another process has the database. Whoever meets this is not the daemon and should talk to the one that is. */
export class DatabaseTaken extends Error {
  override readonly name = "DatabaseTaken";
}

/** Numbered migrations per component, applied in order. A published one never changes. */
export type Migrations = Readonly<Record<string, readonly string[]>>;

/**
 * Opens a database with the exclusive lock that makes its holder the daemon. The lock dies with the process, so
 * nothing is left to clean up after a kill.
 */
function openDatabase(path: string, migrations: Migrations): Database {
  createPrivately(path);
  const database = guarded(path, () => new Database(path, { create: true, readwrite: true, strict: true }));
  try {
    guarded(path, () => {
      database.run("PRAGMA busy_timeout = 0");
      database.run("PRAGMA locking_mode = EXCLUSIVE");
      database.run("PRAGMA journal_mode = WAL");
      database.run("PRAGMA synchronous = FULL");
      database.run("PRAGMA foreign_keys = ON");
      database.run("PRAGMA temp_store = MEMORY");
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

/** Mail is for its owner's eyes. SQLite gives the files beside a database the mode of the database. */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, "a", 0o600));
  } catch (thrown) {
    throw unusable(path, thrown as NodeJS.ErrnoException);
  }
}

/** SQLite begins its log anew when it has grown so long. */
const logBytes = 4 * 1024 * 1024;

/**
 * Makes the log as long as it gets. While it grows, the file system writes its new length with every commit, which takes
 * half as long again. Zeros behind its last entry are nothing to SQLite, and the lock keeps everybody else away.
 */
function layOutLog(log: string): void {
  const { bavail, bsize } = statfsSync(dirname(log));
  // Room that is scarce is for mail.
  if (bavail * bsize < 16 * logBytes) return;
  const file = openSync(log, "a");
  const missing = logBytes - fstatSync(file).size;
  try {
    if (missing > 0) writeSync(file, new Uint8Array(missing));
  } catch {
    // Over a quota, for one. A shorter log is as good, and SQLite says what it lacks itself.
  } finally {
    closeSync(file);
  }
}

/**
 * A database and its statements. A statement that is still open keeps the lock alive behind a closed connection,
 * so every one is made here and finalized before the database closes.
 */
export interface Connection extends Disposable {
  readonly database: Database;
  statement(sql: string): Statement;
}

export function connect(path: string, migrations: Migrations): Connection {
  const database = openDatabase(path, migrations);
  const statements = new Map<string, Statement>();
  return {
    database,
    statement(sql) {
      let statement = statements.get(sql);
      if (statement === undefined) statements.set(sql, (statement = database.prepare(sql)));
      return statement;
    },
    [Symbol.dispose]() {
      for (const statement of statements.values()) statement.finalize();
      statements.clear();
      database.close(true);
    },
  };
}

/** Runs statements and turns SQLite's own errors into ours, with the remedy that fits. */
export function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw thrown instanceof SQLiteError ? translate(path, thrown) : thrown;
  }
}

function migrate(path: string, database: Database, migrations: Migrations): void {
  database.run("CREATE TABLE IF NOT EXISTS migrations (component TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT");
  using versions = database.prepare<{ version: number }, [string]>("SELECT version FROM migrations WHERE component = ?");
  for (const [component, steps] of Object.entries(migrations)) {
    const version = versions.get(component)?.version ?? 0;
    if (version > steps.length) throw newerVersion(path, component, version);
    for (let next = version; next < steps.length; next++) {
      database.run(`BEGIN; ${steps[next]}; INSERT OR REPLACE INTO migrations VALUES ('${component}', ${next + 1}); COMMIT`);
    }
  }
}

const newerVersion = (path: string, component: string, version: number): TielineError =>
  new TielineError("STORE_UNAVAILABLE", `${path} was written by a newer Tieline (${component} schema ${version})`, {
    remedy: "update Tieline, or set TIELINE_HOME to another directory",
    operands: { path, component, version },
  });

function translate(path: string, error: SQLiteError): Error {
  const code = error.code ?? "";
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) return new DatabaseTaken(path, { cause: error });
  if (code.startsWith("SQLITE_CORRUPT") || code.startsWith("SQLITE_NOTADB")) {
    return new TielineError("STORE_CORRUPT", `${path} is damaged (${error.message})`, {
      remedy: `nothing was changed; keep the file, then \`sqlite3 ${path} .recover\` into a new one, or move it away to start empty`,
      operands: { path },
      cause: error,
    });
  }
  if (code.startsWith("SQLITE_CONSTRAINT")) return error;
  return unusable(path, error);
}

function unusable(path: string, error: SQLiteError | NodeJS.ErrnoException): TielineError {
  const code = error.code ?? "";
  const full = code.startsWith("SQLITE_FULL") || code === "ENOSPC";
  return new TielineError("STORE_UNAVAILABLE", full ? `the disk is full; ${path} can not grow` : `${path} can not be used (${error.message})`, {
    remedy: full ? "free some space and send again; nothing was lost" : "check that the directory exists, is writable and has space",
    operands: { path, cause: code },
    cause: error,
  });
}
