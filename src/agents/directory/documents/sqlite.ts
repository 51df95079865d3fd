import type { Connection } from "../../../os/sqlite/connection.ts";
import { corrupt } from "../../../os/sqlite/faults.ts";
import type { Documents } from "./port.ts";

export const documentMigrations: readonly string[] = [
  `CREATE TABLE documents (kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, key)) STRICT`,
];

export function sqliteDocuments({ path, statement, run, commit }: Connection): Documents {
  const all = "SELECT key, value FROM documents WHERE kind = ? ORDER BY rowid";
  const put = "INSERT INTO documents VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value";
  return {
    all: (kind) =>
      run(() => statement(all).all(kind) as { key: string; value: string }[]).map(({ key, value }) => ({
        key,
        value: parsed(value, `${kind} ${key}`),
      })),
    put: (kind, key, value) => void commit(() => statement(put).run(kind, key, JSON.stringify(value))),
    remove: (kind, key) =>
      void commit(() => statement("DELETE FROM documents WHERE kind = ? AND key = ?").run(kind, key)),
  };

  function parsed(value: string, name: string): unknown {
    try {
      return JSON.parse(value);
    } catch (cause) {
      throw corrupt(path, `what it keeps of ${name} is not JSON`, cause);
    }
  }
}
