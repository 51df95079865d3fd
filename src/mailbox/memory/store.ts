import { openStates, shortened, type Delivery, type Transition } from "../../model/delivery.ts";
import { deliveryId, type AgentId, type DeliveryId, type MessageId } from "../../model/ids.ts";
import { wakes, whens, type Message } from "../../model/message.ts";
import { TagTaken, type LogFilter } from "../port.ts";
import type { Store } from "../store.ts";
import { minuteMs, minutesKeptMs, type TallyCount, type TallySum } from "../statistics.ts";
import { servedBefore } from "../steps.ts";
import { containsAll, phrasesOf } from "../searchPhrases.ts";

/** What a store in memory consists of. Two stores over the same tables are one mailbox, opened twice. */
export interface MemoryTables {
  readonly messages: Map<MessageId, Message>;
  readonly byTag: Map<string, Message>;
  readonly deliveries: Map<DeliveryId, Delivery>;
  readonly transitions: Map<DeliveryId, Transition[]>;
}

export const memoryTables = (): MemoryTables => ({
  messages: new Map(),
  byTag: new Map(),
  deliveries: new Map(),
  transitions: new Map(),
});

/** For tests and for switches that need not outlive their process. Nothing here can fail, so nothing rolls back. */
export function memoryStore(id = "memory", tables: MemoryTables = memoryTables()): Store {
  const { messages, byTag, deliveries, transitions } = tables;
  let tallies: TallyCount[] = [];
  let lastId = Math.max(0, ...deliveries.keys());

  const every = (condition: (delivery: Delivery) => boolean): Delivery[] => [...deliveries.values()].filter(condition);
  const of = (message: MessageId): Delivery[] => every((delivery) => delivery.messageId === message);
  const newest = <T>(rows: T[], limit: number): T[] => rows.slice(Math.max(0, rows.length - limit));
  const usedBytes = (): number => [...messages.values()].reduce((sum, message) => sum + message.body.length, 0);
  const messageOf = (delivery: Delivery): Message => messages.get(delivery.messageId)!;

  function matching(filter: LogFilter): Message[] {
    const { agent, agents, from, to, states, team, thread, grep, since, until, before, after } = filter;
    const phrases = phrasesOf(grep ?? "");
    const all = [...messages.values()];
    const placeOf = (one: string): number =>
      messages.has(one as MessageId)
        ? all.findIndex((message) => message.id === one)
        : all.findLastIndex((message) => message.id < one);
    const first = after === undefined ? 0 : placeOf(after) + 1;
    const end = before === undefined ? all.length : placeOf(before);
    const involves = (one: Message, those: readonly AgentId[]): boolean =>
      those.includes(one.from.id) || of(one.id).some((delivery) => those.includes(delivery.agent));
    return all
      .slice(first, Math.max(first, end))
      .filter(
        (one) =>
          (agent === undefined || involves(one, [agent])) &&
          (agents === undefined || involves(one, agents)) &&
          (from === undefined || one.from.id === from) &&
          (to === undefined || of(one.id).some((delivery) => delivery.agent === to)) &&
          (states === undefined || of(one.id).some(({ state }) => states.includes(state))) &&
          (team === undefined || one.team === team.name || involves(one, team.members)) &&
          (thread === undefined || one.thread === thread) &&
          (grep === undefined || (phrases.length === 0 ? one.body.includes(grep) : containsAll(one.body, phrases))) &&
          (since === undefined || one.acceptedAt >= since) &&
          (until === undefined || one.acceptedAt < until),
      );
  }

  return {
    id,
    commit: (work) => work(),

    addMessage(message) {
      if (byTag.has(message.tag)) throw new TagTaken(message.tag);
      messages.set(message.id, message);
      byTag.set(message.tag, message);
    },
    addDelivery(delivery) {
      const added = { ...delivery, id: deliveryId(++lastId) };
      deliveries.set(added.id, added);
      return added;
    },
    saveDelivery: (delivery) => void deliveries.set(delivery.id, delivery),
    readdress: (id, { id: agent, name }) => void deliveries.set(id, { ...deliveries.get(id)!, agent, agentName: name }),
    addTransition(transition) {
      const rows = [...(transitions.get(transition.delivery) ?? []), transition];
      const short = shortened(rows);
      const kept = rows.map((row, at) => (at === short?.tells ? { ...row, leftOut: short.leftOut } : row));
      transitions.set(
        transition.delivery,
        kept.filter((_, at) => !short?.without.includes(at)),
      );
    },

    message: (idOrTag) => messages.get(idOrTag as MessageId) ?? byTag.get(idOrTag) ?? null,
    isIntact: (one) => messages.has(one),
    messageByKey: (from, key) =>
      [...messages.values()].find((one) => one.from.id === from && one.idempotencyKey === key) ?? null,
    delivery: (one) => deliveries.get(one) ?? null,
    deliveriesOf: of,
    transitionsOf: (delivery) => transitions.get(delivery) ?? [],

    heads(agent) {
      const queued = every((one) => one.agent === agent && one.state === "queued" && wakes(messageOf(one).kind)).sort(
        servedBefore,
      );
      return whens.flatMap((when) => queued.find((delivery) => delivery.when === when) ?? []);
    },
    pushInFlight: (agent) =>
      every((one) => one.agent === agent && one.state === "claimed" && one.lane === "push").length > 0,
    counts() {
      const open = every((delivery) => openStates.includes(delivery.state));
      return [...new Set(open.map((delivery) => delivery.agent))].map((agent) => {
        const own = open.filter((delivery) => delivery.agent === agent);
        return { agent, queued: own.filter((delivery) => delivery.state === "queued").length, open: own.length };
      });
    },
    nextDueAt() {
      const times = [...deliveries.values()].flatMap(({ state, expiresAt, availableAt, leaseUntil }) =>
        state === "queued" ? [expiresAt, availableAt] : state === "claimed" ? [leaseUntil] : [],
      );
      const due = times.filter((time) => time !== null);
      return due.length === 0 ? null : Math.min(...due);
    },
    moveDeadlines(byMs) {
      const moved = (at: number | null): number | null => (at === null ? null : at + byMs);
      for (const one of every(({ state }) => openStates.includes(state))) {
        deliveries.set(one.id, {
          ...one,
          expiresAt: moved(one.expiresAt),
          availableAt: moved(one.availableAt),
          leaseUntil: moved(one.leaseUntil),
          updatedAt: one.updatedAt + byMs,
          reasonAt: moved(one.reasonAt),
        });
      }
    },
    lastWrittenAt: () =>
      every(({ state }) => openStates.includes(state)).reduce<number | null>(
        (latest, one) => Math.max(latest ?? 0, one.updatedAt),
        null,
      ),
    lastClaimedAt: () => every(() => true).reduce((latest, one) => Math.max(latest, one.claimedAt ?? 0), 0),
    expiring: (now) => every((one) => one.state === "queued" && one.expiresAt !== null && one.expiresAt <= now),
    inStates: (states, limit) =>
      newest(
        every((one) => states.includes(one.state)),
        limit,
      ),
    inbox(agent, { pending, oldest, limit = 50, whens: only, wakes: waking, team }) {
      const rows = every(
        (one) =>
          one.agent === agent &&
          (!pending || openStates.includes(one.state)) &&
          (only === null || only.includes(one.when)) &&
          (waking === undefined || wakes(messageOf(one).kind) === waking) &&
          (team === undefined || messageOf(one).team === team),
      );
      return (oldest ? rows.slice(0, limit) : newest(rows, limit)).map((delivery) => ({
        delivery,
        message: messageOf(delivery),
      }));
    },
    log(filter) {
      const { limit = 50, oldest = filter.after !== undefined } = filter;
      const rows = matching(filter);
      return oldest ? rows.slice(0, limit) : newest(rows, limit);
    },
    logCount: (filter) => matching(filter).length,
    lastMessage: (agent) => matching({ agent }).at(-1) ?? null,
    nameOf(agent) {
      const sent = matching({ from: agent }).at(-1)?.from;
      const received = every((one) => one.agent === agent).at(-1);
      if (sent !== undefined) return { name: sent.name, team: sent.team };
      return received === undefined ? null : { name: received.agentName, team: null };
    },
    addTallies: (rows) => void tallies.push(...rows),
    tallies({ measure, size, since, until, step, team }) {
      const sums = new Map<string, TallySum>();
      for (const one of tallies) {
        if (one.size !== size || one.measure !== measure || one.at < since || one.at >= until) continue;
        if (team !== undefined && one.team !== team) continue;
        const bucket = step === null ? 0 : Math.floor((one.at - since) / step);
        const { label, bound } = one;
        const key = `${bucket} ${bound} ${label}`;
        sums.set(key, { bucket, label, bound, count: (sums.get(key)?.count ?? 0) + one.count });
      }
      return [...sums.values()];
    },
    sentSince: (from, to, since) =>
      [...messages.values()]
        .filter((one) => one.from.id === from && one.acceptedAt > since)
        .reduce(
          (sum, one) => sum + (to === null ? 1 : of(one.id).filter((delivery) => delivery.agent === to).length),
          0,
        ),
    hopsAround(agent) {
      const delivered = every(
        (one) => one.agent === agent && ["delivered", "seen", "answered"].includes(one.state),
      ).map(messageOf);
      const user = delivered.findLastIndex((message) => message.from.id === "user");
      return delivered.slice(user + 1).reduce((most, message) => Math.max(most, message.hops), 0);
    },

    usedBytes,
    prune({ olderThan, freshSince, maxBytes, batch, after = 0 }) {
      const crowded = usedBytes() > maxBytes;
      const stays = (one: Message): boolean =>
        of(one.id).some(
          ({ state, updatedAt, answeredAt }) =>
            openStates.includes(state) ||
            (state !== "cancelled" && updatedAt >= freshSince) ||
            (one.acceptedAt >= olderThan &&
              one.expectsReply &&
              (state === "delivered" || state === "seen") &&
              answeredAt === null),
        );
      const looked = [...messages.values()].slice(after, after + batch);
      const old = looked.filter(
        (one) =>
          (crowded ? one.acceptedAt < freshSince || of(one.id).length > 0 : one.acceptedAt < olderThan) && !stays(one),
      );
      for (const message of old) {
        for (const delivery of of(message.id)) {
          deliveries.delete(delivery.id);
          transitions.delete(delivery.id);
        }
        messages.delete(message.id);
        byTag.delete(message.tag);
      }
      const minutesFrom = Math.max(olderThan, freshSince - minutesKeptMs);
      tallies = tallies.filter(({ size, at }) => at >= (size === minuteMs ? minutesFrom : olderThan - size));
      const isOver = looked.length < batch || (!crowded && looked.at(-1)!.acceptedAt >= olderThan);
      return { removed: old.length, next: isOver ? null : after + batch - old.length };
    },

    index: () => 0,

    [Symbol.dispose]: () => undefined,
  };
}
