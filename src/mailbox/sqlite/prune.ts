import { openStates } from "../../model/delivery.ts";
import type { Connection } from "../../os/sqlite/connection.ts";
import type { Pruned, RetentionLimits } from "../port.ts";
import { forgetProgressBeyondEnd, forgetWords, withWords } from "./searchIndex.ts";
import { pruneTallies } from "./statistics.ts";

/** Without the pages that are free: the file itself never shrinks. */
export function usedBytes({ statement }: Connection): number {
  const number = (sql: string): number => Object.values(statement(sql).get() as Record<string, number>)[0]!;
  return (number("PRAGMA page_count") - number("PRAGMA freelist_count")) * number("PRAGMA page_size");
}

const open = openStates.map((state) => `'${state}'`).join(", ");

/** A message that has to stay, although it is old or the mailbox is large. */
const stays = `EXISTS (
  SELECT 1 FROM deliveries d WHERE d.message = m.seq AND (
    d.state IN (${open})
    OR (d.state <> 'cancelled' AND d.updated_at >= $freshSince)
    OR (m.accepted_at >= $olderThan AND m.expects_reply = 1 AND d.state IN ('delivered', 'seen')
      AND d.answered_at IS NULL)))`;

/** For a message without recipients, only its age tells whether it is fresh. */
const mayGo =
  "CASE WHEN $crowded THEN m.accepted_at < $freshSince OR EXISTS (SELECT 1 FROM deliveries WHERE message = " +
  "m.seq) ELSE m.accepted_at < $olderThan END";

interface Looked {
  readonly seq: number;
  readonly accepted_at: number;
  readonly goes: number;
}

/** Looks at a few messages, so that concurrent sends do not wait for long. */
export function prune(
  connection: Connection,
  { olderThan, freshSince, maxBytes, batch, after = 0 }: RetentionLimits,
): Pruned {
  const { statement } = connection;
  const crowded = usedBytes(connection) > maxBytes;
  const look = statement(
    `SELECT m.seq, m.accepted_at, (${mayGo}) AND NOT ${stays} AS goes FROM messages m WHERE m.seq > $after ` +
      "ORDER BY m.seq LIMIT $batch",
  );
  const looked = look.all({ crowded: Number(crowded), olderThan, freshSince, after, batch }) as Looked[];
  const going = looked.filter(({ goes }) => goes === 1);
  for (const { seq } of going) {
    statement("DELETE FROM history WHERE delivery IN (SELECT id FROM deliveries WHERE message = ?)").run(seq);
    statement("DELETE FROM deliveries WHERE message = ?").run(seq);
    withWords(connection, () => forgetWords(connection, seq));
    statement("DELETE FROM messages WHERE seq = ?").run(seq);
  }
  if (going.length > 0) forgetProgressBeyondEnd(connection);
  if (after === 0) pruneTallies(connection, olderThan, freshSince);
  const last = looked.at(-1);
  const isOver = last === undefined || looked.length < batch || (!crowded && last.accepted_at >= olderThan);
  return { removed: going.length, next: isOver ? null : last.seq };
}
