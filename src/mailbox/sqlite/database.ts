import { Database, SQLiteError, type Statement } from "bun:sqlite";
import { TielineError } from "../../model/errors.ts";

/** Another process has the mailbox. Whoever meets this is not the daemon and should talk to the one that is. */
export class MailboxTaken extends Error {
  override readonly name = "MailboxTaken";
}

/**
 * Opens a database with the exclusive lock that makes its holder the daemon. The lock dies with the process, so
 * nothing is left to clean up after a kill.
 */
function openDatabase(path: string, migrations: readonly string[]): Database {
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
    });
  } catch (thrown) {
    database.close();
    throw thrown;
  }
  return database;
}

/**
 * A database and its statements. A statement that is still open keeps the lock alive behind a closed connection,
 * so every one is made here and finalized before the database closes.
 */
export interface Connection extends Disposable {
  readonly database: Database;
  statement(sql: string): Statement;
}

export function connect(path: string, migrations: readonly string[]): Connection {
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

function migrate(path: string, database: Database, migrations: readonly string[]): void {
  using pragma = database.prepare<{ user_version: number }, []>("PRAGMA user_version");
  const version = pragma.get()!.user_version;
  if (version > migrations.length) {
    throw new TielineError("STORE_UNAVAILABLE", `${path} was written by a newer Tieline (schema ${version})`, {
      remedy: "update Tieline, or set TIELINE_HOME to another directory",
      operands: { path, version },
    });
  }
  for (const [index, sql] of migrations.entries()) {
    if (index < version) continue;
    database.run(`BEGIN; ${sql}; PRAGMA user_version = ${index + 1}; COMMIT`);
  }
}

function translate(path: string, error: SQLiteError): Error {
  const code = error.code ?? "";
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) return new MailboxTaken(path, { cause: error });
  if (code.startsWith("SQLITE_CORRUPT") || code.startsWith("SQLITE_NOTADB")) {
    return new TielineError("STORE_CORRUPT", `${path} is damaged (${error.message})`, {
      remedy: `nothing was changed; keep the file, then \`sqlite3 ${path} .recover\` into a new one, or move it away to start empty`,
      operands: { path },
      cause: error,
    });
  }
  if (code.startsWith("SQLITE_CONSTRAINT")) return error;
  const full = code.startsWith("SQLITE_FULL");
  return new TielineError("STORE_UNAVAILABLE", full ? `the disk is full; ${path} can not grow` : `${path} can not be used (${error.message})`, {
    remedy: full ? "free some space and send again; nothing was lost" : "check that the directory exists, is writable and has space",
    operands: { path, sqlite: code },
    cause: error,
  });
}
