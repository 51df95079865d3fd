import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createCourier, type Courier } from "./courier.ts";
import { openMailbox } from "../mailbox/mailbox.ts";
import { memoryStore } from "../mailbox/memory/store.ts";
import type { Mailbox } from "../mailbox/port.ts";
import { pullLeaseMs, type Delivery } from "../model/delivery.ts";
import { seal, type Draft } from "../model/message.ts";
import { SteadyClock } from "../os/steadyClock.ts";
import { PlayedTransport } from "../testing/playedTransport.ts";
import { anAgent } from "../testing/agents.ts";
import { user } from "../testing/mailboxContract.ts";
import { until } from "../testing/until.ts";
import { ageingClock, followClock, moveBackDeadlines } from "./setClock.ts";

const bob = anAgent({ name: "bob" });
const dayMs = 86_400_000;
const jumps = [60_000, -60_000, 600_000, -600_000, 60 * dayMs, -60 * dayMs];

/** A courier on a machine whose wall clock is in the test's hands, while time itself passes as it does. */
describe("a courier whose clock is set", () => {
  let offset: number;
  let steady: SteadyClock;
  let mailbox: Mailbox;
  let courier: Courier;
  let stage: PlayedTransport;
  let notes: string[];
  let stop: AbortController;
  let following: Promise<void>;

  beforeEach(async () => {
    offset = 0;
    notes = [];
    stop = new AbortController();
    steady = new SteadyClock({ wall: () => Date.now() + offset, uptime: () => performance.now() });
    mailbox = openMailbox(memoryStore(), { clock: steady.now });
    stage = new PlayedTransport();
    courier = createCourier({
      mailbox,
      transports: new Map([["tmux", stage]]),
      agent: () => bob,
      report: (_, fault) => {
        throw fault;
      },
      retryMs: 1,
      clock: steady.now,
    });
    await courier.start();
    following = followClock({
      mailbox,
      steady,
      replan: () => courier.replan(),
      report: (_, fault) => {
        throw fault;
      },
      note: (text) => void notes.push(text),
      signal: stop.signal,
      everyMs: 5,
    });
  });
  afterEach(async () => {
    stop.abort();
    await following;
    await courier[Symbol.asyncDispose]();
  });

  const send = async (body: string, draft: Partial<Draft> = {}): Promise<Delivery> =>
    (
      await mailbox.accept(
        seal({ to: "bob", body, ...draft }, user, { inReplyTo: null, hops: 0 }, { clock: steady.now }),
        [bob],
      )
    ).deliveries[0]!;
  const state = ({ id }: Delivery): string => mailbox.delivery(id)!.state;
  const set = async (jump: number): Promise<void> => {
    offset += jump;
    await until(() => notes.length > 0, "the clock to be noticed");
  };

  test.each(jumps)("by %d ms: a delivery that waits shows the current reason", async (jump) => {
    stage.readiness = { kind: "held", hold: { reason: "busy", detail: "bob is working" } };
    const delivery = await send("hello");
    await until(() => mailbox.delivery(delivery.id)!.detail === "bob is working", "the first reason");
    await set(jump);
    stage.readiness = { kind: "held", hold: { reason: "dialog", detail: "bob asks a question" } };
    courier.wake(bob.id);
    await until(() => mailbox.delivery(delivery.id)!.detail === "bob asks a question", "the second reason");
  });

  test.each(jumps)("by %d ms: refused attempts continue", async (jump) => {
    stage.outcome = { kind: "held", hold: { reason: "busy", detail: "too late" } };
    const delivery = await send("hello");
    await until(() => stage.written.length >= 3, "three attempts");
    await set(jump);
    stage.outcome = { kind: "delivered", proof: "screen" };
    courier.wake(bob.id);
    await until(() => state(delivery) === "delivered", "the delivery");
  });

  test.each(jumps)(
    "by %d ms: queued mail is delivered when its endpoint opens, and says why it waited",
    async (jump) => {
      stage.readiness = { kind: "held", hold: { reason: "busy", detail: "bob is working" } };
      const delivery = await send("hello");
      await until(() => stage.watchers > 0, "the courier to watch");
      await set(jump);
      expect(mailbox.delivery(delivery.id)).toMatchObject({ state: "queued", detail: "bob is working" });
      stage.open();
      await until(() => state(delivery) === "delivered", "the delivery");
      expect(notes).toEqual([
        `the clock was set ${jump > 0 ? "forward" : "back"} by ${Math.abs(jump) / 1_000} s; ` +
          "deadlines were moved with it",
      ]);
    },
  );

  test.each(jumps)("by %d ms: a time to live ends when it would have, no sooner and no later", async (jump) => {
    stage.readiness = { kind: "held", hold: { reason: "busy", detail: "bob is working" } };
    const short = await send("short", { ttlMs: 400 });
    const long = await send("long", { ttlMs: 100_000 });
    const from = performance.now();
    await set(jump);
    expect([state(short), state(long)]).toEqual(["queued", "queued"]);
    await until(() => state(short) === "expired", "the end of the short one");
    expect(performance.now() - from).toBeGreaterThan(250);
    expect(state(long)).toBe("queued");
  });

  test.each(jumps)("by %d ms: an attempt that failed is repeated as soon as it would have been", async (jump) => {
    stage.outcome = { kind: "error", detail: "no" };
    const delivery = await send("hello");
    await until(() => mailbox.delivery(delivery.id)!.attempts === 1, "the failed attempt");
    stage.outcome = { kind: "delivered", proof: "screen" };
    await set(jump);
    await until(() => state(delivery) === "delivered", "the second attempt", 5_000);
  });

  test.each(jumps)("by %d ms: a reader keeps its lease", async (jump) => {
    stage.readiness = { kind: "held", hold: { reason: "busy", detail: "bob is working" } };
    const delivery = await send("hello");
    const { items, flushed } = await courier.collect(bob, { transport: "hook", authority: "peer" });
    await set(jump);
    expect([items.length, state(delivery)]).toEqual([1, "claimed"]);
    const leftMs = mailbox.delivery(delivery.id)!.leaseUntil! - steady.now();
    expect(leftMs).toBeWithin(pullLeaseMs - 5_000, pullLeaseMs + 1);
    await flushed({ kind: "delivered", proof: "tool" });
    expect(state(delivery)).toBe("seen");
  });
});

test("a clock that was set back while no daemon ran moves deadlines back at the start", async () => {
  let now = 1_800_000_000_000;
  const clock = (): number => now;
  await using mailbox = openMailbox(memoryStore(), { clock });
  const { id } = (
    await mailbox.accept(seal({ to: "bob", body: "x", ttlMs: 50_000 }, user, { inReplyTo: null, hops: 0 }, { clock }), [
      bob,
    ])
  ).deliveries[0]!;
  const notes: string[] = [];
  now += 20_000;
  await moveBackDeadlines(mailbox, clock, (text) => void notes.push(text));
  expect([mailbox.delivery(id)!.expiresAt! - now, notes]).toEqual([30_000, []]);
  now -= 20_000 + 600_000;
  await moveBackDeadlines(mailbox, clock, (text) => void notes.push(text));
  expect(mailbox.delivery(id)!.expiresAt! - now).toBe(50_000);
  await moveBackDeadlines(mailbox, clock, (text) => void notes.push(text));
  expect(mailbox.delivery(id)!.expiresAt! - now).toBe(50_000);
  expect(notes).toEqual(["the clock was set back by 600 s since the last start; deadlines were moved with it"]);
});

describe("what makes things old", () => {
  const maxAgeMs = 30 * dayMs;
  function machine(newestAt: number | null) {
    const time = { wall: 1_800_000_000_000, elapsed: 0 };
    const steady = new SteadyClock({ wall: () => time.wall, elapsed: () => time.elapsed, uptime: () => time.elapsed });
    const clock = ageingClock(steady, () => newestAt, maxAgeMs);
    const pass = (ms: number): void => {
      time.wall += ms;
      time.elapsed += ms;
    };
    return { time, steady, clock, pass };
  }

  test("is time that passes, and no clock that is set forward", () => {
    const { time, steady, clock, pass } = machine(1_800_000_000_000 - dayMs);
    pass(1_000);
    time.wall += 60 * dayMs;
    steady.takeOver(steady.look());
    expect([steady.now() - clock(), clock()]).toEqual([60 * dayMs, 1_800_000_001_000]);
    time.wall -= 70 * dayMs;
    steady.takeOver(steady.look());
    expect(clock()).toBe(1_800_000_001_000 - 10 * dayMs);
  });

  test("waits a day when everything would be too old at once", () => {
    const newest = 1_800_000_000_000 - 40 * dayMs;
    const { clock, pass } = machine(newest);
    expect(clock()).toBe(newest);
    pass(dayMs - 1);
    expect(clock()).toBe(newest);
    pass(1);
    expect(clock()).toBe(1_800_000_000_000 + dayMs);
    expect(machine(null).clock()).toBe(1_800_000_000_000);
  });
});
