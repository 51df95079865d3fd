import { expect } from "bun:test";
import fc from "fast-check";
import { join } from "node:path";
import { holdReasons, mayFollow, openStates, proofs, type Delivery, type Transition } from "../model/delivery.ts";
import { agentId, type AgentId, type MessageId, type RandomBytes } from "../model/ids.ts";
import { seal, wakes, whens, type Message, type Sender } from "../model/message.ts";
import { connect } from "../os/sqlite/connection.ts";
import { openMailbox } from "../mailbox/mailbox.ts";
import { memoryStore } from "../mailbox/memory/store.ts";
import type { Change, Mailbox } from "../mailbox/port.ts";
import { mailboxMigrations } from "../mailbox/sqlite/schema.ts";
import { sqliteStore } from "../mailbox/sqlite/store.ts";
import { turn, type Action } from "./mailboxWalkActions.ts";

/**
 * Random walks of verbs over two mailboxes side by side, one in memory and one in SQLite. Both must say the same of
 * every step, and after every step the promises of the port must hold for each.
 */

const sender = (id: string, name: string): Sender => ({ id: agentId(id), name, team: "web", knownBy: "token" });
const agents = [sender("user", "user"), sender("a-1", "ana"), sender("b-1", "bob"), sender("c-1", "cy")];
const way = { transport: "tmux", authority: "peer" } as const;

/** Counts up in its last bytes, so that both mailboxes draw the same ids and no tag comes twice by chance. */
function countingRandom(first: number): RandomBytes {
  let drawn = 0;
  return (count) => {
    const bytes = new Uint8Array(count);
    new DataView(bytes.buffer).setUint32(count - 4, ++drawn);
    bytes[count - 4] = first;
    return bytes;
  };
}

/** Takes so many walks, each in a database of its own below the directory. */
export async function walkMailboxes(directory: string, numRuns: number): Promise<void> {
  let walks = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 5, maxLength: 30 }), async (turns) => {
      const walk = new Walk(join(directory, `walk-${++walks}.db`));
      try {
        for (const { together, passMs, restart } of turns) {
          await walk.take(together);
          walk.now += passMs;
          if (restart) await walk.restart();
        }
        walk.compareEverything();
      } finally {
        await walk.close();
      }
    }),
    { numRuns },
  );
}

const isDeath = ({ from, to }: Transition): boolean => (to === "failed" || to === "expired") && from !== to;

class Walk {
  now = 1_800_000_000_000;
  private readonly clock = (): number => this.now;
  private readonly random = countingRandom(1);
  private readonly bounceRandom = [countingRandom(2), countingRandom(2)] as const;
  private readonly memory: Mailbox;
  private sqlite: Mailbox;
  private readonly changes: [Change[], Change[]] = [[], []];
  private readonly messages: Message[] = [];
  private readonly recipients = new Map<MessageId, AgentId[]>();
  private readonly lastState = new Map<Delivery["id"], Delivery["state"]>();

  constructor(private readonly path: string) {
    this.memory = openMailbox(memoryStore(), { clock: this.clock, random: this.bounceRandom[0] });
    this.memory.onTransitions((changes) => this.changes[0].push(...changes));
    this.sqlite = this.openSqlite();
  }

  private openSqlite(): Mailbox {
    const connection = connect(this.path, { mailbox: mailboxMigrations });
    // What survives a power cut is not what is walked here, and waiting for the disk is most of the time.
    connection.database.run("PRAGMA synchronous = OFF");
    const store = sqliteStore(connection);
    const mailbox = openMailbox(store, { clock: this.clock, random: this.bounceRandom[1] });
    mailbox.onTransitions((changes) => this.changes[1].push(...changes));
    return mailbox;
  }

  async restart(): Promise<void> {
    await this.sqlite[Symbol.asyncDispose]();
    this.sqlite = this.openSqlite();
    this.checkCounts();
  }

  async close(): Promise<void> {
    await Promise.all([this.memory, this.sqlite].map((mailbox) => mailbox[Symbol.asyncDispose]()));
  }

  async take(together: readonly Action[]): Promise<void> {
    const verbs = together.map((one) => this.verbOf(one));
    const [inMemory, inSqlite] = await Promise.all(
      [this.memory, this.sqlite].map((mailbox) => Promise.all(verbs.map((verb) => answerOf(verb(mailbox))))),
    );
    expect(inSqlite).toEqual(inMemory!);
    const [changes, others] = [this.changes[0].splice(0), this.changes[1].splice(0)];
    expect(others).toEqual(changes);
    this.note(changes);
    this.checkChanges(changes);
    this.checkNothingOpenIsGone();
    this.checkLanes();
    this.checkCounts();
  }

  /** Resolves what an action picks before anything runs, so that both mailboxes are asked for the same. */
  private verbOf(action: Action): (mailbox: Mailbox) => Promise<unknown> {
    switch (action.do) {
      case "accept": {
        const from = agents[action.from % agents.length]!;
        const reply = action.reply === null ? null : (this.pickMessage(action.reply) ?? null);
        const to = action.to.map((index) => agents[index]!);
        const message = seal(
          {
            to: to.map((one) => one.name).join(),
            body: action.key ?? `message ${this.messages.length}`,
            kind: action.kind,
            when: whens[action.when % whens.length]!,
            ...(action.ttlMs !== null && { ttlMs: action.ttlMs }),
            ...(action.key !== null && { idempotencyKey: action.key }),
          },
          from,
          { inReplyTo: reply, hops: action.from % 7 },
          { clock: this.clock, random: this.random },
        );
        this.recipients.set(
          message.id,
          to.map((one) => one.id),
        );
        return (mailbox) => mailbox.accept(message, to);
      }
      case "accept again": {
        const earlier = this.pickMessage(action.message);
        if (!earlier) return async () => null;
        const fresh = seal(
          { to: "x", body: "a twin" },
          agents[0]!,
          { inReplyTo: null, hops: 0 },
          { clock: this.clock, random: this.random },
        );
        // Only the mailbox itself writes bounces.
        const twin = action.sameId && earlier.kind !== "bounce" ? earlier : { ...fresh, tag: earlier.tag };
        this.recipients.set(twin.id, [agents[1]!.id]);
        return (mailbox) => mailbox.accept(twin, [agents[1]!]);
      }
      case "claim": {
        const id = this.pickDelivery(action.delivery, "queued");
        return (mailbox) => mailbox.claim(id, { lane: action.lane, now: this.now, transport: "tmux" });
      }
      case "hold": {
        const id = this.pickDelivery(action.delivery, "queued");
        const reason = holdReasons[action.reason]!;
        return (mailbox) => mailbox.hold(id, { reason, detail: `it is ${reason}` });
      }
      case "settle": {
        const id = this.pickDelivery(action.delivery, "claimed", "uncertain", "delivered");
        return (mailbox) => mailbox.settle(id, action.outcome, way);
      }
      case "confirm": {
        const id = this.pickDelivery(action.delivery, "delivered", "seen", "uncertain");
        return (mailbox) => mailbox.confirm(id, action.proof);
      }
      case "abandon": {
        const id = this.pickDelivery(action.delivery, "queued");
        return (mailbox) => mailbox.abandon(id, "it was given up");
      }
      case "read": {
        const id = this.pickDelivery(action.delivery, "queued");
        return (mailbox) => mailbox.read(id, way);
      }
      case "warn": {
        const id = this.pickDelivery(action.delivery, "delivered");
        return (mailbox) => mailbox.warn(id, "no proof came");
      }
      case "note": {
        const id = this.pickDelivery(action.delivery, "delivered", "seen");
        return (mailbox) => mailbox.note(id, "retrying", action.delivery % 2 === 0 ? "529" : null);
      }
      case "cancel":
      case "retry": {
        const id =
          action.do === "retry"
            ? this.pickDead(action.message)
            : (this.pickMessage(action.message)?.id ?? ("none" as MessageId));
        const agent = action.agent === null ? undefined : agents[action.agent % agents.length]!.id;
        return (mailbox) => mailbox[action.do](id, agent);
      }
      case "expire":
        return (mailbox) => mailbox.expire(this.now);
      case "restored":
        return (mailbox) => mailbox.restored(this.now, ({ state }) => `it was ${state}`);
      case "recover":
        return (mailbox) => mailbox.recover(this.now, action.scope);
      case "prune":
        return (mailbox) =>
          mailbox
            .prune({
              olderThan: this.now - action.olderMs,
              freshSince: this.now - action.freshMs,
              maxBytes: action.crowded ? 0 : Number.MAX_SAFE_INTEGER,
              batch: action.batch,
            })
            .then(({ removed, next }) => [removed, next === null]);
    }
  }

  private pickMessage(index: number): Message | undefined {
    return this.messages[index % Math.max(1, this.messages.length)];
  }

  /** Mostly one in a state where the verb has work to do; otherwise walks would mostly be refusals. */
  private pickDelivery(index: number, ...states: Delivery["state"][]): Delivery["id"] {
    const all = [...this.lastState.keys()];
    const apt = all.filter((id) => states.includes(this.lastState.get(id)!));
    const candidates = index % 4 === 0 || apt.length === 0 ? all : apt;
    return candidates[index % Math.max(1, candidates.length)] ?? (0 as Delivery["id"]);
  }

  private pickDead(index: number): MessageId {
    const dead = [...this.lastState]
      .filter(([, state]) => ["failed", "expired", "cancelled"].includes(state))
      .map(([id]) => this.memory.delivery(id)!.messageId);
    const candidates = index % 4 === 0 || dead.length === 0 ? this.messages.map((message) => message.id) : dead;
    return candidates[index % Math.max(1, candidates.length)] ?? ("none" as MessageId);
  }

  private note(changes: readonly Change[]): void {
    for (const { transition, message, delivery } of changes) {
      this.lastState.set(delivery.id, delivery.state);
      if (transition.verb !== "accept") continue;
      if (this.messages.every((one) => one.id !== message.id)) this.messages.push(message);
      if (message.kind === "bounce")
        this.recipients.set(message.id, [this.messages.find((one) => one.id === message.inReplyTo)!.from.id]);
    }
  }

  private checkChanges(changes: readonly Change[]): void {
    for (const { transition, delivery, message } of changes) {
      const { from, verb, to } = transition;
      expect(mayFollow(from, verb, to), `${from} may become ${to} by ${verb}`).toBe(true);
      if (verb === "accept") expect(this.agentsOf(message)).toEqual(this.recipients.get(message.id)!);
      if (!isDeath(transition)) continue;
      const deaths = changes.filter((one) => one.delivery.id === delivery.id && isDeath(one.transition));
      const bounces = changes.filter(
        ({ transition: one, message: other }) =>
          one.verb === "accept" &&
          other.kind === "bounce" &&
          other.inReplyTo === message.id &&
          other.body.includes(` to ${delivery.agentName} `),
      );
      expect(
        bounces.map((one) => one.delivery.agent),
        `bounces of ${message.tag} to ${delivery.agentName}`,
      ).toEqual(wakes(message.kind) ? deaths.map(() => message.from.id) : []);
    }
    const bounces = changes.filter(
      ({ transition, message }) => transition.verb === "accept" && message.kind === "bounce",
    );
    const deaths = changes.filter(({ transition, message }) => isDeath(transition) && wakes(message.kind));
    expect(bounces.length).toBe(deaths.length);
    for (const { delivery } of changes) this.checkHistory(delivery);
  }

  private agentsOf(message: Message): AgentId[] {
    return (this.memory.receipt(message.id)?.deliveries ?? []).map((delivery) => delivery.agent);
  }

  /** Steps join on to each other, and a proof once held is lost only by what waits in the queue again. */
  private checkHistory({ id, messageId }: Delivery): void {
    const history = this.memory.history(messageId)?.steps.get(id) ?? [];
    history.forEach((row, index) => {
      const before = history[index - 1];
      expect(row.from).toBe(before?.to ?? null);
      if (row.to === "queued") return expect(row.proof).toBeNull();
      if (!before || before.proof === null) return undefined;
      expect(proofs.indexOf(row.proof!), `${before.proof} is not lowered to ${row.proof}`).toBeGreaterThanOrEqual(
        proofs.indexOf(before.proof),
      );
      return undefined;
    });
  }

  /** Pruning spares what is open: whatever is gone had come to its end before. */
  private checkNothingOpenIsGone(): void {
    for (const [id, state] of this.lastState) {
      if (this.memory.delivery(id) !== null) continue;
      expect(openStates, `delivery ${id} was pruned while ${state}`).not.toContain(state);
      this.lastState.delete(id);
    }
  }

  private checkLanes(): void {
    const pushed = this.sqlite.deliveriesIn(["claimed"]).filter((delivery) => delivery.lane === "push");
    expect(new Set(pushed.map((delivery) => delivery.agent)).size).toBe(pushed.length);
  }

  private checkCounts(): void {
    const open = this.memory.deliveriesIn(openStates);
    const queued = open.filter((delivery) => delivery.state === "queued");
    for (const mailbox of [this.memory, this.sqlite]) {
      for (const { id } of agents)
        expect(mailbox.pending(id)).toBe(open.filter((delivery) => delivery.agent === id).length);
      expect(mailbox.waiting().toSorted()).toEqual([...new Set(queued.map((delivery) => delivery.agent))].toSorted());
    }
    for (const { id } of agents) expect(this.sqlite.heads(id, this.now)).toEqual([...this.memory.heads(id, this.now)]);
    expect(this.sqlite.nextDueAt()).toBe(this.memory.nextDueAt());
  }

  compareEverything(): void {
    for (const { id, tag } of this.messages)
      for (const name of [id, tag]) expect(this.sqlite.history(name)).toEqual(this.memory.history(name));
    expect(this.sqlite.log({ limit: 1_000 })).toEqual([...this.memory.log({ limit: 1_000 })]);
    for (const { id } of agents) {
      expect(this.sqlite.inbox(id, { limit: 1_000 })).toEqual([...this.memory.inbox(id, { limit: 1_000 })]);
      expect(this.sqlite.inbox(id, { pending: true, limit: 3 })).toEqual([
        ...this.memory.inbox(id, { pending: true, limit: 3 }),
      ]);
      expect(this.sqlite.hopsAround(id)).toBe(this.memory.hopsAround(id));
      for (const to of [null, agents[2]!.id])
        expect(this.sqlite.sentSince(id, to, this.now - 20_000)).toBe(this.memory.sentSince(id, to, this.now - 20_000));
    }
  }
}

/** What a verb answered: its value, or the code of its refusal. */
async function answerOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    return { value: await promise };
  } catch (thrown) {
    const { code, name } = thrown as { code?: string; name: string };
    return { refused: code ?? name };
  }
}
