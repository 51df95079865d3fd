import { guarded, type Connection } from "../../sqlite/connection.ts";
import type { Documents } from "./port.ts";

export const documentMigrations: readonly string[] = [
  `CREATE TABLE documents (kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, key)) STRICT`,
];

export function sqliteDocuments({ statement }: Connection, path: string): Documents {
  const all = "SELECT key, value FROM documents WHERE kind = ? ORDER BY rowid";
  const put = "INSERT INTO documents VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value";
  return {
    all: (kind) =>
      guarded(path, () => statement(all).all(kind) as { key: string; value: string }[]).map(({ key, value }) => ({
        key,
        value: JSON.parse(value) as unknown,
      })),
    put: (kind, key, value) => void guarded(path, () => statement(put).run(kind, key, JSON.stringify(value))),
    remove: (kind, key) => void guarded(path, () => statement("DELETE FROM documents WHERE kind = ? AND key = ?").run(kind, key)),
  };
}
