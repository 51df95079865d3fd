import { openStates, shortened, type Delivery, type Transition } from "../../model/delivery.ts";
import { deliveryId, type DeliveryId, type MessageId } from "../../model/ids.ts";
import { wakes, whens, type Message } from "../../model/message.ts";
import { TagTaken } from "../port.ts";
import type { Store } from "../store.ts";
import { servedBefore } from "../steps.ts";
import { containsAll, phrasesOf } from "../searchPhrases.ts";

/** For tests and for switches that need not outlive their process. Nothing here can fail, so nothing rolls back. */
export function memoryStore(id = "memory"): Store {
  const messages = new Map<MessageId, Message>();
  const byTag = new Map<string, Message>();
  const deliveries = new Map<DeliveryId, Delivery>();
  const transitions = new Map<DeliveryId, Transition[]>();
  let lastId = 0;

  const every = (condition: (delivery: Delivery) => boolean): Delivery[] => [...deliveries.values()].filter(condition);
  const of = (message: MessageId): Delivery[] => every((delivery) => delivery.messageId === message);
  const newest = <T>(rows: T[], limit: number): T[] => rows.slice(Math.max(0, rows.length - limit));
  const usedBytes = (): number => [...messages.values()].reduce((sum, message) => sum + message.body.length, 0);
  const messageOf = (delivery: Delivery): Message => messages.get(delivery.messageId)!;

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
    log({ limit = 50, agent, agents, team, thread, grep, since, before, after, oldest = after !== undefined }) {
      const phrases = phrasesOf(grep ?? "");
      const all = [...messages.values()];
      const placeOf = (id: string): number =>
        messages.has(id as MessageId) ? all.findIndex((one) => one.id === id) : all.findLastIndex((one) => one.id < id);
      const [from, to] = [
        after === undefined ? 0 : placeOf(after) + 1,
        before === undefined ? all.length : placeOf(before),
      ];
      const rows = all
        .slice(from, Math.max(from, to))
        .filter(
          (one) =>
            (agent === undefined || one.from.id === agent || of(one.id).some((delivery) => delivery.agent === agent)) &&
            (agents === undefined ||
              agents.includes(one.from.id) ||
              of(one.id).some((delivery) => agents.includes(delivery.agent))) &&
            (team === undefined ||
              one.team === team.name ||
              of(one.id).some(({ agent: recipient }) => team.members.includes(recipient))) &&
            (thread === undefined || one.thread === thread) &&
            (grep === undefined || (phrases.length === 0 ? one.body.includes(grep) : containsAll(one.body, phrases))) &&
            (since === undefined || one.acceptedAt >= since),
        );
      return oldest ? rows.slice(0, limit) : newest(rows, limit);
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
      const isOver = looked.length < batch || (!crowded && looked.at(-1)!.acceptedAt >= olderThan);
      return { removed: old.length, next: isOver ? null : after + batch - old.length };
    },

    index: () => 0,

    [Symbol.dispose]: () => undefined,
  };
}
