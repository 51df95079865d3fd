import type { SQLQueryBindings } from "bun:sqlite";
import {
  longestHistory,
  openStates,
  shortened,
  type Delivery,
  type DeliveryState,
  type Transition,
} from "../../model/delivery.ts";
import {
  deliveryId,
  uuidv4,
  type AgentId,
  type DeliveryId,
  type MessageId,
  type RandomBytes,
} from "../../model/ids.ts";
import { whens, type Message } from "../../model/message.ts";
import { TagTaken, type FormerName, type InboxRow } from "../port.ts";
import type { Store } from "../store.ts";
import type { Connection } from "../../os/sqlite/connection.ts";
import { isIntact } from "./checksum.ts";
import {
  messageToRow,
  mutableColumns,
  rowToDelivery,
  rowToMessage,
  rowToTransition,
  transitionToRow,
  type DeliveryRow,
  type HistoryRow,
  type MessageRow,
} from "./rows.ts";
import { prune, usedBytes } from "./prune.ts";
import { countQuery, logQuery, partOf, quoted } from "./logQuery.ts";
import { indexWords, withWords } from "./searchIndex.ts";
import { addTallies, sumTallies } from "./statistics.ts";

const deliveryColumns = "d.*, m.id AS message_id FROM deliveries d JOIN messages m ON m.seq = d.message";
/** How many of the newest deliveries can have left a mark that is still compared. */
const claimsHorizon = 10_000;
/** How far back the hop count of a conversation is followed. */
const hopsHorizon = 200;

/** SQLite through Bun, on a database that this process alone holds (see sqlite/connection.ts). */
export function sqliteStore(connection: Connection, random?: RandomBytes): Store {
  const statements = connection.run(() => prepare(connection));
  const all = <Row>(sql: string, ...parameters: SQLQueryBindings[]): Row[] =>
    connection.statement(sql).all(...parameters) as Row[];
  const get = <Row>(sql: string, ...parameters: SQLQueryBindings[]): Row | null =>
    connection.statement(sql).get(...parameters) as Row | null;

  const store: Store = {
    id: identify(connection, random),

    commit: (work) => connection.commit(work),

    addMessage(message) {
      try {
        statements.addMessage.run(messageToRow(message) as never);
      } catch (thrown) {
        if (String(thrown).includes("messages.tag")) throw new TagTaken(message.tag);
        throw thrown;
      }
    },

    addDelivery(delivery, wakes) {
      const { messageId, agent, agentName, when, queuedAt } = delivery;
      const row = {
        message_id: messageId,
        agent,
        agent_name: agentName,
        served: when,
        wakes: Number(wakes),
        queued_at: queuedAt,
        ...mutableColumns(delivery),
      };
      const { lastInsertRowid } = statements.addDelivery.run(row as never);
      return { ...delivery, id: deliveryId(Number(lastInsertRowid)) };
    },

    saveDelivery(delivery) {
      statements.saveDelivery.run({ id: delivery.id, ...mutableColumns(delivery) } as never);
    },

    readdress(delivery, { id, name }) {
      connection.statement("UPDATE deliveries SET agent = ?, agent_name = ? WHERE id = ?").run(id, name, delivery);
    },

    addTransition(transition) {
      statements.addTransition.run({ id: connection.nextNumber(), ...transitionToRow(transition) } as never);
      if (transition.from !== null && (transition.to === "queued" || transition.from === transition.to))
        shorten(connection, transition.delivery);
    },

    message(idOrTag) {
      const row =
        get<MessageRow>("SELECT * FROM messages WHERE id = ?1", idOrTag) ??
        get<MessageRow>("SELECT * FROM messages WHERE tag = ?1", idOrTag);
      return row && rowToMessage(row);
    },

    isIntact(id) {
      const row = get<MessageRow>("SELECT * FROM messages WHERE id = ?", id);
      return row !== null && isIntact(row);
    },

    messageByKey(from, key) {
      const row = get<MessageRow>("SELECT * FROM messages WHERE from_id = ? AND idempotency_key = ?", from, key);
      return row && rowToMessage(row);
    },

    delivery(id) {
      const row = get<DeliveryRow>(`SELECT ${deliveryColumns} WHERE d.id = ?`, id);
      return row && rowToDelivery(row);
    },

    deliveriesOf: (message: MessageId): Delivery[] =>
      all<DeliveryRow>(
        `SELECT ${deliveryColumns} WHERE d.message = (SELECT seq FROM messages WHERE id = ?) ORDER BY d.id`,
        message,
      ).map(rowToDelivery),

    transitionsOf: (delivery: DeliveryId): Transition[] =>
      all<HistoryRow>("SELECT * FROM history WHERE delivery = ? ORDER BY id", delivery).map(rowToTransition),

    heads: (agent: AgentId): Delivery[] =>
      whens.flatMap((when) => {
        const first =
          "SELECT min(id) FROM deliveries WHERE agent = ? AND served = ? AND state = 'queued' AND wakes = 1";
        const row = get<DeliveryRow>(`SELECT ${deliveryColumns} WHERE d.id = (${first})`, agent, when);
        return row ? [rowToDelivery(row)] : [];
      }),

    pushInFlight: (agent) =>
      get("SELECT 1 FROM deliveries WHERE agent = ? AND state = 'claimed' AND lane = 'push'", agent) !== null,

    counts: () =>
      all<{ agent: AgentId; queued: number; open: number }>(
        "SELECT agent, sum(state = 'queued') AS queued, count(*) AS open FROM deliveries WHERE state IN " +
          `(${quoted(openStates)}) GROUP BY agent`,
      ),

    nextDueAt() {
      const row = get<{ at: number | null }>(
        `SELECT min(at) AS at FROM (
           SELECT min(expires_at) AS at FROM deliveries WHERE state = 'queued' AND expires_at IS NOT NULL
           UNION ALL SELECT min(available_at) FROM deliveries WHERE state = 'queued' AND available_at IS NOT NULL
           UNION ALL SELECT min(lease_until) FROM deliveries WHERE state = 'claimed' AND lease_until IS NOT NULL)`,
      );
      return row?.at ?? null;
    },

    moveDeadlines(byMs) {
      const moved = ["expires_at", "available_at", "lease_until", "updated_at", "reason_at"]
        .map((column) => `${column} = ${column} + ?1`)
        .join(", ");
      connection
        .statement(`UPDATE deliveries SET ${moved} WHERE state IN (${quoted(openStates)})`)
        .run(Math.round(byMs));
    },

    lastWrittenAt: () =>
      get<{ at: number | null }>(`SELECT max(updated_at) AS at FROM deliveries WHERE state IN (${quoted(openStates)})`)!
        .at,

    lastClaimedAt() {
      const open = `SELECT claimed_at FROM deliveries WHERE state IN (${quoted(openStates)})`;
      const newest = `SELECT claimed_at FROM deliveries ORDER BY id DESC LIMIT ${claimsHorizon}`;
      const recent = `SELECT claimed_at FROM (${newest})`;
      return get<{ at: number | null }>(`SELECT max(claimed_at) AS at FROM (${open} UNION ALL ${recent})`)!.at ?? 0;
    },

    expiring: (now) =>
      all<DeliveryRow>(
        `SELECT ${deliveryColumns} WHERE d.state = 'queued' AND d.expires_at IS NOT NULL AND d.expires_at <= ` +
          "? ORDER BY d.id",
        now,
      ).map(rowToDelivery),

    /** State by state, and each in the words of its partial index: otherwise every delivery would be looked at. */
    inStates(states: readonly DeliveryState[], limit) {
      const ids = states.flatMap((state) =>
        all<{ id: number }>(
          `SELECT id FROM deliveries WHERE state = '${state}' ${partOf(state)} ORDER BY id DESC LIMIT ?`,
          limit,
        ),
      );
      const newest = ids
        .toSorted((a, b) => b.id - a.id)
        .slice(0, limit)
        .reverse();
      return newest.map(({ id }) => rowToDelivery(get<DeliveryRow>(`SELECT ${deliveryColumns} WHERE d.id = ?`, id)!));
    },

    inbox(agent, { pending, oldest, limit = 50, whens: only, wakes, team }) {
      const conditions = ["d.agent = ?"];
      if (pending) conditions.push(`d.state IN (${quoted(openStates)})`);
      if (only !== null) conditions.push(`d.served IN (${quoted(only)})`);
      if (wakes !== undefined) conditions.push(`d.wakes = ${Number(wakes)}`);
      if (team !== undefined) conditions.push("(SELECT team FROM messages WHERE seq = d.message) = ?");
      const index = pending ? "INDEXED BY deliveries_pending" : "";
      const chosen =
        `SELECT d.id FROM deliveries d ${index} WHERE ${conditions.join(" AND ")} ORDER BY d.id ` +
        `${oldest ? "ASC" : "DESC"} LIMIT ?`;
      const ids = all<{ id: number }>(chosen, agent, ...(team === undefined ? [] : [team]), limit).toSorted(
        (a, b) => a.id - b.id,
      );
      return ids.map(({ id }): InboxRow => {
        const row = get<DeliveryRow>(`SELECT ${deliveryColumns} WHERE d.id = ?`, id)!;
        const message = get<MessageRow>("SELECT * FROM messages WHERE id = ?", row.message_id)!;
        return { delivery: rowToDelivery(row), message: rowToMessage(message) };
      });
    },

    log: (filter) => {
      const find = (): MessageRow[] => {
        const { sql, parameters } = logQuery(connection, filter);
        return all<MessageRow>(sql, ...parameters);
      };
      const found = withWords(connection, find).map(rowToMessage);
      return (filter.oldest ?? filter.after !== undefined) ? found : found.reverse();
    },

    logCount: (filter) =>
      withWords(connection, () => {
        const { sql, parameters } = countQuery(connection, filter);
        return get<{ n: number }>(sql, ...parameters)!.n;
      }),

    lastMessage(agent) {
      const row = get<MessageRow>(
        `SELECT * FROM messages WHERE seq = (SELECT max(seq) FROM (
           SELECT (SELECT message FROM deliveries WHERE agent = ?1 ORDER BY id DESC LIMIT 1) AS seq
           UNION ALL SELECT (SELECT seq FROM messages WHERE from_id = ?1 ORDER BY accepted_at DESC LIMIT 1)))`,
        agent,
      );
      return row && rowToMessage(row);
    },

    nameOf: (agent) =>
      get<FormerName>(
        "SELECT from_name AS name, from_team AS team FROM messages WHERE from_id = ? ORDER BY accepted_at DESC LIMIT 1",
        agent,
      ) ??
      get<FormerName>(
        "SELECT agent_name AS name, NULL AS team FROM deliveries WHERE agent = ? ORDER BY id DESC LIMIT 1",
        agent,
      ),

    addTallies: (rows) => addTallies(connection, rows),
    tallies: (query) => sumTallies(connection, query),

    sentSince(from, to, since) {
      const counted = "m.from_id = ? AND m.accepted_at > ?";
      const row =
        to === null
          ? get<{ n: number }>(`SELECT count(*) AS n FROM messages m WHERE ${counted}`, from, since)
          : get<{ n: number }>(
              `SELECT count(*) AS n FROM messages m JOIN deliveries d ON d.message = m.seq WHERE ${counted} ` +
                "AND d.agent = ?",
              from,
              since,
              to,
            );
      return row!.n;
    },

    hopsAround(agent) {
      const recent = all<{ hops: number; from_id: string }>(
        `SELECT m.hops, m.from_id FROM deliveries d JOIN messages m ON m.seq = d.message
         WHERE d.agent = ? AND d.state IN ('delivered', 'seen', 'answered') ORDER BY d.id DESC LIMIT ${hopsHorizon}`,
        agent,
      );
      const user = recent.findIndex((row) => row.from_id === "user");
      return recent.slice(0, user < 0 ? recent.length : user).reduce((most, row) => Math.max(most, row.hops), 0);
    },

    usedBytes: () => usedBytes(connection),
    prune: (limits) => prune(connection, limits),

    index: (batch) => withWords(connection, () => indexWords(connection, batch)),

    [Symbol.dispose]() {
      connection[Symbol.dispose]();
    },
  };
  return guarded(store, connection);
}

/** Every verb with SQLite's errors turned into ours, and with rows that cannot be read. */
function guarded(store: Store, { run }: Connection): Store {
  const verbs = Object.entries(store).map(([name, verb]) => {
    if (typeof verb !== "function" || name === "addMessage") return [name, verb];
    return [name, (...given: unknown[]) => run(() => (verb as (...given: unknown[]) => unknown)(...given))];
  });
  return { ...(Object.fromEntries(verbs) as Store), [Symbol.dispose]: store[Symbol.dispose] };
}

function prepare({ statement }: Connection) {
  const messageColumns = Object.keys(messageToRow({ from: {}, body: "" } as Message));
  const mutable = Object.keys(mutableColumns({ notes: [] as Delivery["notes"] } as Delivery));
  const history = Object.keys(transitionToRow({} as Transition));
  const values = (columns: readonly string[]): string => columns.map((column) => `$${column}`).join(", ");
  const fixed = ["agent", "agent_name", "served", "wakes", "queued_at"];
  return {
    addMessage: statement(`INSERT INTO messages (${messageColumns.join(", ")}) VALUES (${values(messageColumns)})`),
    addDelivery: statement(
      `INSERT INTO deliveries (message, ${[...fixed, ...mutable].join(", ")})
       VALUES ((SELECT seq FROM messages WHERE id = $message_id), ${values([...fixed, ...mutable])})`,
    ),
    saveDelivery: statement(
      `UPDATE deliveries SET ${mutable.map((column) => `${column} = $${column}`).join(", ")} WHERE id = $id`,
    ),
    addTransition: statement(`INSERT INTO history (id, ${history.join(", ")}) VALUES ($id, ${values(history)})`),
  };
}

function shorten({ statement }: Connection, delivery: DeliveryId): void {
  const { n } = statement("SELECT count(*) AS n FROM history WHERE delivery = ?").get(delivery) as { n: number };
  if (n < longestHistory) return;
  const rows = statement("SELECT * FROM history WHERE delivery = ? ORDER BY id").all(delivery) as (HistoryRow & {
    id: number;
  })[];
  const short = shortened(rows.map(rowToTransition));
  if (short === null) return;
  for (const at of short.without) statement("DELETE FROM history WHERE id = ?").run(rows[at]!.id);
  statement("UPDATE history SET left_out = ? WHERE id = ?").run(short.leftOut, rows[short.tells]!.id);
}

export function identify({ statement, commit, run }: Connection, random?: RandomBytes): string {
  const known = run(() => statement("SELECT id FROM mailbox").get()) as { id: string } | null;
  if (known) return known.id;
  const id = uuidv4(random).slice(-12);
  commit(() => statement("INSERT INTO mailbox (id) VALUES (?)").run(id));
  return id;
}
