/**
 * SQLite notices a page that is out of order, and not a letter that has changed in it. So each message carries a
 * checksum of everything stored. It finds accidents, not attacks: a program that can write the database can
 * write a checksum.
 */
import type { Database } from "bun:sqlite";
import type { MessageRow } from "./rows.ts";

/** The order of the fields is part of the checksum, and so it never changes. */
export function checksumOf(row: MessageRow): string {
  const envelope = [
    ...[row.id, row.tag, row.from_id, row.from_name, row.from_team, row.known_by, row.to_text, row.team, row.summary],
    ...[row.kind, row.served, row.hard, row.in_reply_to, row.thread, row.expects_reply, row.starts, row.expires_at],
    ...[row.hops, row.idempotency_key, row.accepted_at],
  ];
  const seed = Bun.hash.xxHash64(JSON.stringify(envelope));
  return Bun.hash.xxHash64(row.body, seed).toString(16).padStart(16, "0");
}

export const isIntact = (row: MessageRow): boolean => row.checksum === checksumOf(row);

/** A transaction each, so that the log stays short. */
const batch = 1_000;

/** For messages that were stored before there were checksums. Continues where an earlier call was interrupted. */
export function addMissingChecksums(database: Database): void {
  using some = database.prepare<MessageRow & { seq: number }, [number, number]>(
    "SELECT * FROM messages WHERE seq > ? AND checksum IS NULL ORDER BY seq LIMIT ?",
  );
  using add = database.prepare<unknown, [string, number]>("UPDATE messages SET checksum = ? WHERE seq = ?");
  for (let rows = some.all(-1, batch); rows.length > 0; rows = some.all(rows.at(-1)!.seq, batch)) {
    database.run("BEGIN IMMEDIATE");
    for (const row of rows) add.run(checksumOf(row), row.seq);
    database.run("COMMIT");
  }
}
