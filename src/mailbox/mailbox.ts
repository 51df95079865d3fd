import { defaultMaxAttempts, openStates, type Delivery, type Outcome } from "../model/delivery.ts";
import { TielineError } from "../model/errors.ts";
import {
  systemClock,
  systemRandom,
  type AgentId,
  type Clock,
  type DeliveryId,
  type MessageId,
  type RandomBytes,
} from "../model/ids.ts";
import { sameContent, sealBounce, wakes, type Message } from "../model/message.ts";
import { userId } from "../model/agent.ts";
import type { Receipt } from "../model/receipt.ts";
import { systemTimers, type Timers } from "../os/timers.ts";
import { Counts } from "./counts.ts";
import type { Change, Mailbox, Recipient } from "./port.ts";
import { Room } from "./room.ts";
import * as steps from "./steps.ts";
import type { Store } from "./store.ts";
import { CommitBatch } from "./commitBatch.ts";
import { acceptedTally, TallyBatch, talliesOf } from "./statistics.ts";

export interface MailboxOptions {
  readonly clock?: Clock;
  readonly timers?: Pick<Timers, "nextTurn">;
  readonly random?: RandomBytes;
  readonly maxAttempts?: number;
  /** Above this nothing is accepted. */
  readonly maxBytes?: number;
}

/** The verbs of the port over any store, with group commit: what is asked for in one turn of the loop is one commit. */
export function openMailbox(store: Store, options: MailboxOptions = {}): Mailbox {
  const { clock = systemClock, timers = systemTimers, random = systemRandom } = options;
  const { maxAttempts = defaultMaxAttempts, maxBytes = Infinity } = options;
  const batch = new CommitBatch(store, timers);
  const counts = new Counts(store);
  const listeners = new Set<(changes: readonly Change[]) => void>();
  const foretold = new Set<(message: Message, recipients: readonly Recipient[]) => void>();
  const crowded = new Set<() => void>();
  const room = new Room(store, maxBytes, () => crowded.forEach((listener) => listener()));
  const tallies = new TallyBatch();
  let uncommitted: Change[] = [];
  let lastClaimedAt = store.lastClaimedAt();

  const perform = <T>(verb: () => T): Promise<T> => batch.run(verb);

  batch.onCommit = () => {
    const changes = uncommitted;
    uncommitted = [];
    for (const change of changes) counts.apply(change.transition, change.delivery);
    if (changes.length > 0) for (const listener of listeners) listener(changes);
  };
  batch.beforeCommit = () => store.addTallies(tallies.take());
  batch.onRollback = () => {
    tallies.take();
    uncommitted = [];
  };

  function record(step: steps.Step, message: Message): Delivery {
    if (step.transition.from !== null) store.saveDelivery(step.delivery);
    store.addTransition(step.transition);
    tallies.add(talliesOf({ transition: step.transition, agent: step.delivery.agent, message }));
    uncommitted.push({ ...step, message });
    return step.delivery;
  }

  function deposit(message: Message, recipients: readonly Recipient[]): Receipt {
    store.addMessage(message);
    tallies.add([acceptedTally(message)]);
    const deliveries = recipients.map((recipient) => {
      const delivery = store.addDelivery(steps.queued(message, recipient), wakes(message.kind));
      return record(steps.accepted(delivery), message);
    });
    return { message, deliveries };
  }

  /** The bounce of a failed delivery is in the same commit, so that a crash cannot lose it. */
  function bounce(message: Message, dead: Delivery, cause: string): void {
    let bounced = sealBounce(message, dead, cause, { clock, random });
    while (bounced !== null && store.message(bounced.tag) !== null)
      bounced = sealBounce(message, dead, cause, { clock, random });
    if (bounced === null) return;
    deposit(bounced, [{ id: message.from.id, name: message.from.id === userId ? "user" : message.from.name }]);
  }

  function fail(step: steps.Step, message: Message): Delivery {
    const failed = record(step, message);
    bounce(message, failed, failed.detail ?? "it could not be delivered");
    return failed;
  }

  /** What was delivered can be lost afterwards; a claim that has ended already is a conflict. */
  function retract(delivery: Delivery, message: Message, outcome: Outcome): Delivery {
    if (outcome.kind !== "unknown" && outcome.kind !== "discarded") throw settledAlready(delivery);
    const step = steps.lost(delivery, outcome, clock());
    if (step === null) return delivery;
    const now = record(step, message);
    if (now.state === "failed") bounce(message, now, outcome.detail);
    return now;
  }

  function answer(reply: Message): void {
    if (reply.inReplyTo === null || !wakes(reply.kind)) return;
    const original = store.message(reply.inReplyTo);
    if (original === null) return;
    const delivery = store.deliveriesOf(original.id).find((one) => one.agent === reply.from.id);
    const step = delivery && steps.answered(delivery, reply.acceptedAt);
    if (step) record(step, original);
  }

  /** Marks that attempts leave outside are compared by it, so it ascends also when the clock was set back. */
  function nextClaimedAt(now: number): number {
    lastClaimedAt = Math.max(now, lastClaimedAt + 1);
    return lastClaimedAt;
  }

  const mustFind = (id: DeliveryId): { delivery: Delivery; message: Message } => {
    const delivery = store.delivery(id);
    if (!delivery) throw messageUnknown(`delivery ${id}`);
    const message = store.message(delivery.messageId);
    // No verb leaves such a delivery behind, so the store itself is asked what happened to it.
    if (!message) throw new TypeError(`the message of delivery ${id} is not there`);
    return { delivery, message };
  };

  /** Applies a step to one delivery of a message, or to each that allows it; refuses when none does. */
  function each(id: MessageId, agent: AgentId | undefined, step: (delivery: Delivery) => steps.Step): Receipt {
    const message = store.message(id);
    if (message === null) throw messageUnknown(id);
    const all = store.deliveriesOf(id);
    const chosen = all.filter((delivery) => agent === undefined || delivery.agent === agent);
    const taken: steps.Step[] = [];
    let refusal: unknown = messageUnknown(`${message.tag} for that agent`);
    for (const delivery of chosen) {
      try {
        taken.push(step(delivery));
      } catch (thrown) {
        refusal = thrown;
      }
    }
    if (taken.length === 0) throw refusal;
    const changed = new Map(taken.map((one) => [one.delivery.id, record(one, message)]));
    return { message, deliveries: all.map((delivery) => changed.get(delivery.id) ?? delivery) };
  }

  /** Each count belongs to one agent, so what is open for the removed agent ends there first. */
  function readdressed(delivery: Delivery, to: Recipient): Delivery {
    if (to.id === delivery.agent) return delivery;
    const closed =
      delivery.state === "uncertain"
        ? record(steps.cancelled(delivery, clock()), mustFind(delivery.id).message)
        : delivery;
    store.readdress(delivery.id, to);
    return { ...closed, agent: to.id, agentName: to.name };
  }

  return {
    id: store.id,

    accept(message, recipients) {
      for (const listener of foretold) listener(message, recipients);
      return perform(() => {
        const earlier =
          message.idempotencyKey === null ? null : store.messageByKey(message.from.id, message.idempotencyKey);
        if (earlier !== null) {
          if (!sameContent(earlier, message)) throw keyReused(message, earlier);
          return { message: earlier, deliveries: store.deliveriesOf(earlier.id) };
        }
        room.take(message, recipients.length);
        const receipt = deposit(message, recipients);
        answer(message);
        return receipt;
      });
    },

    claim: (id, options) =>
      perform(() => {
        const { delivery, message } = mustFind(id);
        if (delivery.state !== "queued") return null;
        if (options.lane === "push" && store.pushInFlight(delivery.agent)) return null;
        if (!store.isIntact(message.id)) {
          fail(steps.damaged(delivery, options.now), message);
          return null;
        }
        return record(steps.claimed(delivery, options, nextClaimedAt(options.now)), message);
      }),

    hold: (id, hold) =>
      perform(() => {
        const { delivery, message } = mustFind(id);
        const step = steps.held(delivery, hold, clock());
        if (step) record(step, message);
      }),

    abandon: (id, detail) =>
      perform(() => {
        const { delivery, message } = mustFind(id);
        return delivery.state === "queued" ? fail(steps.abandoned(delivery, detail, clock()), message) : null;
      }),

    read: (id, via) =>
      perform(() => {
        const { delivery, message } = mustFind(id);
        if (delivery.state !== "queued") return null;
        if (store.isIntact(message.id)) return record(steps.read(delivery, via, clock()), message);
        fail(steps.damaged(delivery, clock(), "read"), message);
        return null;
      }),

    settle: (id, outcome, via) =>
      perform(() => {
        const { delivery, message } = mustFind(id);
        // A reply can be faster than the end of its own attempt; it proves more than the attempt could.
        if (delivery.state === "answered") return delivery;
        if (delivery.state === "delivered" || delivery.state === "seen") return retract(delivery, message, outcome);
        const settled = record(steps.settled(delivery, outcome, via, clock(), maxAttempts), message);
        if (settled.state === "failed") bounce(message, settled, settled.detail ?? "every attempt failed");
        return settled;
      }),

    confirm: (id, proof, detail) =>
      perform(() => {
        const { delivery, message } = mustFind(id);
        const step = steps.confirmed(delivery, proof, detail, clock());
        return step ? record(step, message) : delivery;
      }),

    warn: (id, warning) =>
      perform(() => {
        const { delivery, message } = mustFind(id);
        const step = steps.warned(delivery, warning, clock());
        if (step) record(step, message);
      }),

    note: (id, code, text) =>
      perform(() => {
        const { delivery, message } = mustFind(id);
        const step = steps.noted(delivery, code, text, clock());
        if (step) record(step, message);
      }),

    expire: (now) =>
      perform(() =>
        store.expiring(now).map((delivery) => {
          const { message } = mustFind(delivery.id);
          const gone = record(steps.expired(delivery, now), message);
          bounce(message, gone, "it expired before it could be delivered");
          return gone;
        }),
      ),

    cancel: (id, agent) => perform(() => each(id, agent, (delivery) => steps.cancelled(delivery, clock()))),

    retry: (id, agent, recipientOf) =>
      perform(() =>
        each(id, agent, (delivery) => {
          const again = steps.retried(delivery, clock());
          return recipientOf === undefined
            ? again
            : steps.retried(readdressed(delivery, recipientOf(delivery)), clock());
        }),
      ),

    recover: (now, scope) =>
      perform(() =>
        store
          .inStates(["claimed"], Number.MAX_SAFE_INTEGER)
          .filter((delivery) => (scope === "start" ? true : delivery.leaseUntil !== null && delivery.leaseUntil <= now))
          .map((delivery) => {
            const { message } = mustFind(delivery.id);
            const detail = scope === "start" ? "the switch stopped during the attempt" : "the reader did not come back";
            return record(steps.recovered(delivery, detail, now), message);
          }),
      ),

    moveDeadlines: (byMs) => perform(() => store.moveDeadlines(byMs)),
    lastWrittenAt: () => store.lastWrittenAt(),

    restored: (now, why) =>
      perform(() =>
        store.inStates(openStates, Number.MAX_SAFE_INTEGER).flatMap((delivery) => {
          const detail = why(delivery);
          return detail === null ? [] : record(steps.restored(delivery, detail, now), mustFind(delivery.id).message);
        }),
      ),

    heads: (agent, now) =>
      counts.queued(agent) === 0
        ? []
        : store
            .heads(agent)
            .filter((delivery) => delivery.availableAt === null || delivery.availableAt <= now)
            .sort(steps.servedBefore),
    waiting: () => counts.waiting(),
    pending: (agent) => counts.open(agent),
    nextDueAt: () => store.nextDueAt(),

    message: (idOrTag) => store.message(idOrTag),
    isIntact: (id) => store.isIntact(id),
    messageWithKey: (from, key) => store.messageByKey(from, key),
    delivery: (id) => store.delivery(id),
    receipt(idOrTag) {
      const message = store.message(idOrTag);
      return message && { message, deliveries: store.deliveriesOf(message.id) };
    },
    history(idOrTag) {
      const message = store.message(idOrTag);
      if (message === null) return null;
      const deliveries = store.deliveriesOf(message.id);
      const steps = new Map(deliveries.map((delivery) => [delivery.id, store.transitionsOf(delivery.id)]));
      return { message, deliveries, steps };
    },
    inbox: (agent, filter = {}) => store.inbox(agent, { ...filter, whens: filter.when ?? null }),
    log: (filter = {}) => store.log(filter).map((message) => ({ message, deliveries: store.deliveriesOf(message.id) })),
    logCount: (filter = {}) => store.logCount(filter),
    lastMessage: (agent) => store.lastMessage(agent),
    nameOf: (agent) => store.nameOf(agent),
    tallies: (query) => store.tallies(query),
    deliveriesIn: (states, limit = 1_000) => store.inStates(states, limit),
    sentSince: (from, to, since) => store.sentSince(from, to, since),
    hopsAround: (agent) => store.hopsAround(agent),

    prune: (limits) => perform(() => store.prune(limits)),
    index: (batch) => perform(() => store.index(batch)),

    onNearlyFull(listener) {
      crowded.add(listener);
      return () => crowded.delete(listener);
    },

    onComing(listener) {
      foretold.add(listener);
      return () => foretold.delete(listener);
    },

    onTransitions(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    async [Symbol.asyncDispose]() {
      await batch.close();
      store[Symbol.dispose]();
    },
  };
}

const messageUnknown = (what: string): TielineError =>
  new TielineError("MESSAGE_UNKNOWN", `there is no message ${what}`, {
    remedy: "`tieline log` lists the messages; old ones are removed by the retention settings",
    operands: { message: what },
  });

const settledAlready = ({ agentName, state }: Delivery): TielineError =>
  new TielineError("CONFLICT", `the delivery to ${agentName} is already ${state}`, {
    remedy: "`tieline status TAG` shows its history",
    operands: { agent: agentName, state },
  });

const keyReused = (message: Message, earlier: Message): TielineError =>
  new TielineError(
    "CONFLICT",
    `the key "${message.idempotencyKey}" was used for ${earlier.tag}, which has a different text`,
    {
      remedy: "use a new key for a new message",
      operands: { key: message.idempotencyKey, tag: earlier.tag },
    },
  );
