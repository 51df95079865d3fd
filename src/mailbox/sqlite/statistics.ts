/** The counts of mailbox/statistics.ts in SQLite. */
import type { Database } from "bun:sqlite";
import type { DeliveryState, HoldReason, Verb } from "../../model/delivery.ts";
import type { AgentId } from "../../model/ids.ts";
import type { Connection } from "../../os/sqlite/connection.ts";
import {
  acceptedTally,
  bucketSizesOf,
  measures,
  minuteMs,
  minutesKeptMs,
  TallyBatch,
  talliesOf,
  type TallyCount,
  type TallyQuery,
  type TallySum,
} from "../statistics.ts";

const insertSql =
  "INSERT INTO statistics (size, measure, at, team, label, bound, count) VALUES (?, ?, ?, ?, ?, ?, ?) " +
  "ON CONFLICT DO UPDATE SET count = count + excluded.count";

const valuesOf = ({ size, measure, at, team, label, bound, count }: TallyCount) =>
  [size, measure, at, team, label, bound, count] as const;

export function addTallies({ statement }: Connection, rows: readonly TallyCount[]): void {
  if (rows.length === 0) return;
  const insert = statement(insertSql);
  for (const row of rows) insert.run(...valuesOf(row));
}

export function sumTallies({ statement }: Connection, query: TallyQuery): TallySum[] {
  const { measure, size, since, until, step, team } = query;
  const bucket = step === null ? "0" : "(at - $since) / $step";
  const rows = statement(
    `SELECT ${bucket} AS bucket, label, bound, sum(count) AS count FROM statistics
     WHERE size = $size AND measure = $measure AND at >= $since AND at < $until
     ${team === undefined ? "" : "AND team = $team"} GROUP BY bucket, label, bound`,
  ).all({
    ...{ size, measure, since, until },
    ...(step !== null && { step }),
    ...(team !== undefined && { team }),
  });
  return rows as TallySum[];
}

export function pruneTallies({ statement }: Connection, olderThan: number, newest: number): void {
  const drop = statement("DELETE FROM statistics WHERE size = ? AND measure = ? AND at < ?");
  for (const measure of measures)
    for (const size of bucketSizesOf(measure))
      drop.run(size, measure, size === minuteMs ? Math.max(olderThan, newest - minutesKeptMs) : olderThan - size);
}

interface PastStep {
  readonly at: number;
  readonly verb: Verb;
  readonly from_state: DeliveryState | null;
  readonly to_state: DeliveryState;
  readonly reason: HoldReason | null;
  readonly transport: string | null;
  readonly agent: AgentId;
  readonly from_id: AgentId;
  readonly team: string;
  readonly accepted_at: number;
}

/** Counts the whole stored history again, as for a mailbox of an earlier version or one that was repaired. */
export function countHistory(database: Database): void {
  const batch = new TallyBatch();
  using messages = database.prepare<{ team: string; accepted_at: number }, []>(
    "SELECT team, accepted_at FROM messages",
  );
  for (const { team, accepted_at: acceptedAt } of messages.iterate()) batch.add([acceptedTally({ team, acceptedAt })]);
  using steps = database.prepare<PastStep, []>(
    `SELECT h.at, h.verb, h.from_state, h.to_state, h.reason, h.transport, d.agent, m.from_id, m.team, m.accepted_at
     FROM history h JOIN deliveries d ON d.id = h.delivery JOIN messages m ON m.seq = d.message`,
  );
  for (const row of steps.iterate()) {
    const { at, verb, from_state: from, to_state: to, reason, transport, agent, team } = row;
    const message = { team, acceptedAt: row.accepted_at, from: { id: row.from_id } };
    batch.add(talliesOf({ transition: { at, verb, from, to, reason, transport }, agent, message }));
  }
  database.transaction(() => {
    database.run("DELETE FROM statistics");
    using insert = database.prepare(insertSql);
    for (const row of batch.take()) insert.run(...valuesOf(row));
  })();
}
