/** The filters of the log as SQL, for its messages and for their number. */
import type { SQLQueryBindings } from "bun:sqlite";
import { deadStates, openStates, type DeliveryState } from "../../model/delivery.ts";
import type { Connection } from "../../os/sqlite/connection.ts";
import type { LogFilter } from "../port.ts";
import { containing } from "./searchIndex.ts";

export interface Query {
  readonly sql: string;
  readonly parameters: SQLQueryBindings[];
}

export const quoted = (values: readonly string[]): string => values.map((value) => `'${value}'`).join(", ");

/** SQLite uses a partial index only for a query that repeats its condition. */
export const partOf = (state: DeliveryState): string => {
  const group = [openStates, deadStates].find((states) => states.includes(state));
  return group ? `AND state IN (${quoted(group)})` : "";
};

/**
 * Messages ordered as `oldest` says, at most `limit`. Many match a team or a common state, so the first ones are found
 * soonest by going through the messages in order; few match an agent, so its own index is better.
 */
export function logQuery(connection: Connection, filter: LogFilter): Query {
  const { limit = 50, oldest = filter.after !== undefined, agent, agents, thread, from, to } = filter;
  const isNarrow = [agent, agents, thread, from, to].some((one) => one !== undefined);
  const { conditions, parameters } = conditionsOf(connection, filter, isNarrow ? "sets" : "in order");
  const order = oldest ? "seq" : "seq DESC";
  const table = isNarrow || conditions.length === 0 ? "messages" : "messages NOT INDEXED";
  // Sorting numbers is cheaper than sorting whole messages.
  const chosen = `SELECT seq FROM ${table} ${whereOf(conditions)} ORDER BY ${order} LIMIT ?`;
  return {
    sql: `SELECT * FROM messages WHERE seq IN (${chosen}) ORDER BY ${order}`,
    parameters: [...parameters, limit],
  };
}

/** Within a range of time its index finds the messages, and the other conditions are checks of each. */
export function countQuery(connection: Connection, filter: LogFilter): Query {
  const isRanged = filter.since !== undefined || filter.until !== undefined;
  const { conditions, parameters } = conditionsOf(connection, filter, isRanged ? "in order" : "sets");
  const alone = conditions.length === 1 ? /^seq IN \(([^]*)\)$/.exec(conditions[0]!)?.[1] : undefined;
  const sql =
    alone === undefined
      ? `SELECT count(*) AS n FROM messages ${whereOf(conditions)}`
      : `SELECT count(*) AS n FROM (${alone})`;
  return { sql, parameters };
}

const whereOf = (conditions: readonly string[]): string =>
  conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;

/** `sets`: each wide condition is a set of numbers without repetitions, found by an index; else a check per message. */
type Form = "sets" | "in order";

/** Lists of ids are one parameter, so that their length does not make another statement. */
const listed = "IN (SELECT value FROM json_each(?))";

/** The plus keeps SQLite from going through the set instead of through the messages. */
const among = (form: Form, set: string): string => `${form === "in order" ? "+" : ""}seq IN (${set})`;

function conditionsOf(
  connection: Connection,
  { agent, agents, from, to, states, team, thread, grep, since, until, before, after }: LogFilter,
  form: Form,
): { conditions: string[]; parameters: SQLQueryBindings[] } {
  const conditions: string[] = [];
  const parameters: SQLQueryBindings[] = [];
  const where = (condition: string, ...values: SQLQueryBindings[]): void => {
    conditions.push(condition);
    parameters.push(...values);
  };
  if (agent !== undefined) where(involving(form, "= ?"), agent, agent);
  if (agents !== undefined) where(involving(form, listed), JSON.stringify(agents), JSON.stringify(agents));
  if (from !== undefined) where("from_id = ?", from);
  if (to !== undefined) where("seq IN (SELECT DISTINCT message FROM deliveries WHERE agent = ?)", to);
  const isAlone = [agent, agents, from, to, team, thread, grep].every((one) => one === undefined);
  if (states !== undefined) where(inStates(isAlone ? form : "in order", states));
  if (team !== undefined) {
    const members = JSON.stringify(team.members);
    where(involving(form, listed, "team = ?"), team.name, members, members);
  }
  if (thread !== undefined) where("thread = ?", thread);
  if (grep !== undefined) {
    const { set, parameters: searched } = containing(connection, grep);
    where(among(form, set), ...searched);
  }
  if (since !== undefined) where("accepted_at >= ?", since);
  if (until !== undefined) where("accepted_at < ?", until);
  if (before !== undefined) where("seq < (SELECT seq FROM messages WHERE id = ?)", before);
  // Ids tell the time, which can be set back; the order of acceptance is that of the numbers. What was removed has
  // none.
  if (after !== undefined)
    where(
      "seq > coalesce((SELECT seq FROM messages WHERE id = ?), (SELECT max(seq) FROM messages WHERE id < ?), 0)",
      after,
      after,
    );
  return { conditions, parameters };
}

/** Sent or received by those agents, or else as `or` says. */
function involving(form: Form, those: string, or?: string): string {
  if (form === "in order") {
    const received = `EXISTS (SELECT 1 FROM deliveries WHERE message = seq AND +agent ${those})`;
    return `(${[or, `from_id ${those}`, received].filter(Boolean).join(" OR ")})`;
  }
  const sets = [or, `from_id ${those}`].filter(Boolean).map((one) => `SELECT seq FROM messages WHERE ${one}`);
  return among(form, [...sets, `SELECT message FROM deliveries WHERE agent ${those}`].join(" UNION "));
}

function inStates(form: Form, states: readonly DeliveryState[]): string {
  if (form === "in order" && states.every((state) => state === "seen" || state === "answered"))
    return `EXISTS (SELECT 1 FROM deliveries WHERE message = seq AND state IN (${quoted(states)}))`;
  const indexed = states.filter((state) => partOf(state) !== "" || state === "delivered");
  const others = states.filter((state) => !indexed.includes(state));
  const each = [
    ...indexed.map((state) => `SELECT DISTINCT message FROM deliveries WHERE state = '${state}' ${partOf(state)}`),
    ...(others.length === 0 ? [] : [`SELECT DISTINCT message FROM deliveries WHERE state IN (${quoted(others)})`]),
  ];
  return among(form, each.length === 0 ? "SELECT 0 WHERE 0" : each.join(" UNION "));
}
