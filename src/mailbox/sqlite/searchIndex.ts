/**
 * The words of messages, for `log --grep`. They are indexed later than the messages are stored, in small batches, so
 * that no sender waits for it; what is not indexed yet is read instead.
 */
import type { SQLQueryBindings } from "bun:sqlite";
import type { Connection } from "../../os/sqlite/connection.ts";
import { isSqlite } from "../../os/sqlite/faults.ts";
import { containsAll, phrasesOf, type Phrase } from "../searchPhrases.ts";

const indexedUpTo = "(SELECT up_to FROM message_words_progress)";

/** The index can be made again at any time, so a damaged one is: what uses it is tried once more. */
export function withWords<T>({ statement, commit }: Connection, use: () => T): T {
  try {
    return use();
  } catch (thrown) {
    if (!isSqlite(thrown) || !thrown.code.startsWith("SQLITE_CORRUPT_VTAB")) throw thrown;
    commit(() => {
      statement("INSERT INTO message_words (message_words) VALUES ('delete-all')").run();
      statement("UPDATE message_words_progress SET up_to = 0").run();
    });
    return use();
  }
}

/** Answers how many messages it indexed. */
export function indexWords({ statement }: Connection, batch: number): number {
  const rows = statement(`SELECT seq, body FROM messages WHERE seq > ${indexedUpTo} ORDER BY seq LIMIT ?`).all(
    batch,
  ) as { seq: number; body: string }[];
  const insert = statement("INSERT INTO message_words (rowid, body) VALUES (?, ?)");
  for (const { seq, body } of rows) insert.run(seq, body);
  if (rows.length > 0) statement("UPDATE message_words_progress SET up_to = ?").run(rows.at(-1)!.seq);
  return rows.length;
}

/** To be called before the message is deleted: the index has no text of its own. */
export function forgetWords({ statement }: Connection, seq: number): void {
  statement(
    `INSERT INTO message_words (message_words, rowid, body)
     SELECT 'delete', seq, body FROM messages WHERE seq = ? AND seq <= ${indexedUpTo}`,
  ).run(seq);
}

/** After messages were deleted from the end, their numbers are given out again. */
export function forgetProgressBeyondEnd({ statement }: Connection): void {
  statement("UPDATE message_words_progress SET up_to = min(up_to, (SELECT coalesce(max(seq), 0) FROM messages))").run();
}

/** The numbers of the messages that contain the words. Text without any word is looked for as it is. */
export function containing(connection: Connection, query: string): { set: string; parameters: SQLQueryBindings[] } {
  const phrases = phrasesOf(query);
  if (phrases.length === 0) return { set: "SELECT seq FROM messages WHERE instr(body, ?) > 0", parameters: [query] };
  const indexed = "SELECT rowid FROM message_words WHERE message_words MATCH ?";
  const others = notIndexedYet(connection, phrases);
  if (others.length === 0) return { set: indexed, parameters: [matchOf(phrases)] };
  return {
    set: `${indexed} UNION ALL SELECT value FROM json_each(?)`,
    parameters: [matchOf(phrases), JSON.stringify(others)],
  };
}

function notIndexedYet({ statement }: Connection, phrases: readonly Phrase[]): number[] {
  const found: number[] = [];
  for (const row of statement(`SELECT seq, body FROM messages WHERE seq > ${indexedUpTo}`).iterate()) {
    const { seq, body } = row as { seq: number; body: string };
    if (containsAll(body, phrases)) found.push(seq);
  }
  return found;
}

/** Words are letters and digits only, so nothing in them has a meaning to FTS5. */
function matchOf(phrases: readonly Phrase[]): string {
  return phrases.map(({ words, open }) => `"${words.join(" ")}"${open ? " *" : ""}`).join(" ");
}
