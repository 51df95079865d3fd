import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createCourier, type Collected, type Courier } from "./courier.ts";
import { openMailbox } from "../mailbox/mailbox.ts";
import { memoryStore } from "../mailbox/memory/store.ts";
import type { Mailbox } from "../mailbox/port.ts";
import { pullLeaseMs, type Delivery, type Outcome } from "../model/delivery.ts";
import { seal, type Draft, type Sender } from "../model/message.ts";
import { anAgent } from "../testing/agents.ts";
import { ana, user } from "../testing/mailboxContract.ts";
import { PlayedTransport } from "../testing/playedTransport.ts";
import type { Readiness } from "./transports/port.ts";

const bob = anAgent({ name: "bob" });
const busy: Readiness = { kind: "held", hold: { reason: "busy", detail: "bob is working" } };

describe("courier", () => {
  let mailbox: Mailbox;
  let courier: Courier;
  let stage: PlayedTransport;
  let faults: string[];
  let lateMs: number;

  beforeEach(() => {
    lateMs = 0;
    mailbox = openMailbox(memoryStore());
    stage = new PlayedTransport();
    faults = [];
    courier = hire();
  });
  afterEach(async () => {
    await courier[Symbol.asyncDispose]();
    expect(stage.watchers).toBe(0);
  });

  function hire({ sweepMs = 30_000 } = {}): Courier {
    const agents = new Map([[bob.id, bob]]);
    return createCourier({
      mailbox,
      transports: new Map([["tmux", stage]]),
      agent: (id) => agents.get(id) ?? null,
      report: (context) => faults.push(context),
      retryMs: 1,
      sweepMs,
      clock: () => Date.now() + lateMs,
    });
  }

  const send = (body: string, draft: Partial<Draft> = {}): Promise<Delivery> =>
    sendAs(draft.kind ? ana : user, body, draft);
  const sendAs = async (from: Sender, body: string, draft: Partial<Draft> = {}): Promise<Delivery> => {
    const message = seal({ to: "bob", body, ...draft }, from, { inReplyTo: null, hops: 0 });
    return (await mailbox.accept(message, [bob])).deliveries[0]!;
  };
  const collect = (transport = "hook") => courier.collect(bob, { transport, authority: "peer" });
  const bodies = ({ items }: Collected): string[] => items.map(({ message }) => message.body);
  const state = (delivery: Delivery): string => mailbox.delivery(delivery.id)!.state;
  const becomes = (delivery: Delivery, wanted: string): Promise<void> =>
    new Promise((resolve) => {
      const check = (): boolean => state(delivery) === wanted;
      if (check()) return resolve();
      const stop = mailbox.onTransitions(() => {
        if (!check()) return;
        stop();
        resolve();
      });
    });

  /** No event announces that the courier has started to watch. */
  const watched = async (): Promise<void> => {
    while (stage.watchers === 0) await new Promise((resolve) => setImmediate(resolve));
  };

  test("an idle agent gets its mail without anything else happening", async () => {
    await courier.start();
    await becomes(await send("hello"), "delivered");
    expect(stage.written).toEqual(["hello"]);
  });

  test("an agent that is not served yet is prefetched while its mail is stored", async () => {
    const { promise: taken, resolve: take } = Promise.withResolvers<Outcome>();
    stage.outcome = () => taken;
    await courier.start();
    const first = await send("first");
    await becomes(first, "claimed");
    const second = await send("second");
    expect(stage.prefetched).toEqual(["bob after 0 looks"]);
    take({ kind: "delivered", proof: "screen" });
    await becomes(second, "delivered");
  });

  test("mail is stored although its endpoint cannot be prefetched", async () => {
    stage.prefetch = () => {
      throw new Error("no such transport");
    };
    await courier.start();
    await becomes(await send("hello"), "delivered");
    expect(faults).toEqual(["prefetch mail for bob"]);
  });

  test("nothing is prefetched for an agent whose mail is held, nor for a crowd", async () => {
    stage.readiness = busy;
    await courier.start();
    await mailbox.accept(seal({ to: "@all", body: "to all" }, user, { inReplyTo: null, hops: 0 }), [
      bob,
      { id: ana.id, name: "ana" },
    ]);
    await watched();
    await send("held");
    expect(stage.prefetched).toEqual([]);
  });

  test("a signal that never comes is not needed: what waits is checked again and again", async () => {
    stage.readiness = busy;
    courier = hire({ sweepMs: 5 });
    await courier.start();
    const delivery = await send("hello");
    await watched();
    stage.readiness = { kind: "ready" };
    await becomes(delivery, "delivered");
  });

  test("mail that waited through a restart is served by the next start", async () => {
    const delivery = await send("before the start");
    await courier.start();
    await becomes(delivery, "delivered");
  });

  test("one at a time, in order, urgent first", async () => {
    stage.readiness = busy;
    await courier.start();
    await send("turn 1");
    await send("turn 2");
    await send("soon", { when: "tool" });
    const last = await send("stop", { when: "interrupt" });
    await watched();
    stage.open();
    await becomes(last, "delivered");
    const end = await send("the end");
    await becomes(end, "delivered");
    expect(stage.written).toEqual(["stop", "soon", "turn 1", "turn 2", "the end"]);
    expect(stage.mostInFlight).toBe(1);
  });

  test("mail that comes during a delivery is not forgotten", async () => {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    stage.outcome = () => promise;
    await courier.start();
    const first = await send("first");
    await becomes(first, "claimed");
    const second = await send("second");
    stage.outcome = { kind: "delivered", proof: "screen" };
    resolve({ kind: "delivered", proof: "screen" });
    await becomes(second, "delivered");
    expect(stage.written).toEqual(["first", "second"]);
  });

  test("busy is not failure: nothing is written, no attempt is spent, and the reason can be read", async () => {
    stage.readiness = busy;
    await courier.start();
    const delivery = await send("patience");
    for (let wake = 0; wake < 50; wake++) courier.wake(bob.id);
    await watched();
    expect(stage.written).toEqual([]);
    expect(mailbox.delivery(delivery.id)).toMatchObject({ attempts: 0, reason: "busy", detail: "bob is working" });
    stage.open();
    await becomes(delivery, "delivered");
    expect(courier.holdOf(bob.id)).toBeNull();
  });

  test("any number of wakes for one message is one delivery", async () => {
    await courier.start();
    const delivery = await send("once");
    for (let wake = 0; wake < 100; wake++) courier.wake(bob.id);
    await becomes(delivery, "delivered");
    for (let wake = 0; wake < 100; wake++) courier.wake(bob.id);
    const end = await send("end");
    await becomes(end, "delivered");
    expect(stage.written).toEqual(["once", "end"]);
  });

  test("a moment that passes between the check and the write is tried again and costs no attempt", async () => {
    let tries = 0;
    stage.outcome = () =>
      Promise.resolve(
        ++tries < 3
          ? { kind: "held", hold: { reason: "draft", detail: "%9 is in use" } }
          : { kind: "delivered", proof: "screen" },
      );
    await courier.start();
    const delivery = await send("third time lucky");
    await becomes(delivery, "delivered");
    expect(mailbox.delivery(delivery.id)).toMatchObject({ attempts: 0 });
  });

  test("a transport that throws may have written: it is inspected, never repeated blindly", async () => {
    stage.outcome = () => Promise.reject(new Error("the pipe broke"));
    await courier.start();
    const delivery = await send("lost?");
    await becomes(delivery, "uncertain");
    expect([stage.written, faults]).toEqual([["lost?"], [expect.stringContaining("deliver MSG_USER")]]);
    stage.outcome = { kind: "delivered", proof: "screen" };
    await becomes(await sendAs(ana, "from another sender"), "delivered");
    expect(stage.written).toEqual(["lost?", "from another sender"]);
  });

  test("while an attempt is in doubt, later mail of its sender waits for its outcome", async () => {
    stage.outcome = { kind: "unknown", detail: "?" };
    await courier.start();
    const first = await send("in doubt");
    await becomes(first, "uncertain");
    stage.outcome = { kind: "delivered", proof: "screen" };
    const next = await send("the next one");
    await becomes(await sendAs(ana, "from another sender"), "delivered");
    expect(state(next)).toBe("queued");
    stage.inspected = { kind: "absent", detail: "not typed" };
    await courier.reconsider(bob.id);
    await becomes(next, "delivered");
    expect(stage.written).toEqual(["in doubt", "from another sender", "in doubt", "the next one"]);
  });

  test("a doubt that lasts does not delay later mail for ever", async () => {
    stage.outcome = { kind: "unknown", detail: "?" };
    await courier.start();
    await becomes(await send("in doubt"), "uncertain");
    stage.outcome = { kind: "delivered", proof: "screen" };
    const next = await send("the next one");
    lateMs = 11_000;
    await becomes(next, "delivered");
    expect(stage.written).toEqual(["in doubt", "the next one"]);
  });

  test("a lost attempt that is found counts as delivered", async () => {
    stage.outcome = { kind: "unknown", detail: "?" };
    stage.inspected = { kind: "delivered", proof: "screen" };
    await courier.start();
    await becomes(await send("found"), "delivered");
  });

  test.each([
    ["proved absent: sent again", { kind: "absent", detail: "not typed" }, "delivered", ["crashed"]],
    ["found: not sent again", { kind: "delivered", proof: "screen" }, "delivered", []],
    ["no proof: not sent again, and said so", { kind: "unknown", detail: "?" }, "uncertain", []],
  ] as const)("a claim of a dead process, %s", async (_, found, wanted, written) => {
    const delivery = await send("crashed");
    await mailbox.claim(delivery.id, { lane: "push", now: Date.now(), transport: "tmux" });
    stage.inspected = found;
    await courier.start();
    await becomes(delivery, wanted);
    expect(stage.written).toEqual([...written]);
  });

  test("an agent that asks gets its mail once, and it is seen only when it was written out", async () => {
    stage.readiness = busy;
    await courier.start();
    const one = await send("first");
    const two = await send("second", { when: "interrupt" });
    const collected = await courier.collect(bob, { transport: "pull", authority: "peer" });
    expect(collected.items.map(({ message }) => message.body).toSorted()).toEqual(["first", "second"]);
    expect([state(one), state(two)]).toEqual(["claimed", "claimed"]);
    expect((await courier.collect(bob, { transport: "pull", authority: "peer" })).items).toEqual([]);
    await collected.flushed({ kind: "delivered", proof: "tool" });
    expect([state(one), state(two)]).toEqual(["seen", "seen"]);
    stage.open();
    expect(stage.written).toEqual([]);
  });

  test("an urgent message does not wait for a write that hangs", async () => {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    stage.outcome = () => promise;
    await courier.start();
    await becomes(await send("hangs"), "claimed");
    const urgent = await send("stop", { when: "interrupt" });
    const { items, flushed } = await courier.collect(bob, {
      transport: "hook",
      authority: "peer",
      whens: ["interrupt"],
    });
    expect(items.map(({ message }) => message.body)).toEqual(["stop"]);
    await flushed({ kind: "delivered", proof: "submitted" });
    expect(state(urgent)).toBe("delivered");
    resolve({ kind: "delivered", proof: "screen" });
  });

  test("a reader that never says that it has read is inspected when its lease is over", async () => {
    stage.readiness = busy;
    stage.inspected = { kind: "absent", detail: "it is not recorded" };
    await courier.start();
    const delivery = await send("unread");
    expect(bodies(await collect("tmux"))).toEqual(["unread"]);
    lateMs = pullLeaseMs + 1;
    await send("makes the courier look at the clock");
    await becomes(delivery, "queued");
    expect(mailbox.delivery(delivery.id)).toMatchObject({ attempts: 1, detail: "it is not recorded" });
  });

  describe("a mailbox that was restored", () => {
    beforeEach(async () => {
      for (const body of ["one", "two"]) await send(body);
      await mailbox.restored(Date.now(), () => "it was open when the backup was made");
    });
    const open = (): readonly Delivery[] => mailbox.deliveriesIn(["uncertain"]);

    test("is inspected before anything is written: what is found has arrived, nothing is repeated", async () => {
      stage.inspected = { kind: "delivered", proof: "screen", detail: "its mark is in the pane" };
      const [one, two] = open();
      await courier.start();
      await becomes(one!, "delivered");
      await becomes(two!, "delivered");
      expect(stage.written).toEqual([]);
    });

    test.each<Outcome>([
      { kind: "unknown", detail: "?" },
      { kind: "absent", detail: "nothing was typed" },
    ])("leaves to the user what is not found (%j), and serves what comes after it", async (inspected) => {
      stage.inspected = inspected;
      await courier.start();
      await becomes(await send("three"), "delivered");
      expect(stage.written).toEqual(["three"]);
      expect(open()).toHaveLength(2);
      await mailbox.retry(open()[0]!.messageId);
      await becomes(await send("four"), "delivered");
      expect(stage.written).toEqual(["three", "one", "four"]);
    });
  });

  describe("a message that was altered where it is stored", () => {
    const altered = new Set<string>();
    beforeEach(() => {
      altered.clear();
      const store = memoryStore();
      mailbox = openMailbox({ ...store, isIntact: (id) => !altered.has(store.message(id)!.body) });
      courier = hire();
    });

    test("is not written; it fails, its sender gets a bounce, and the next one is delivered at once", async () => {
      stage.readiness = busy;
      await courier.start();
      const [first, second, third] = [await send("first"), await send("second"), await send("third")];
      altered.add("first").add("second");
      await watched();
      stage.open();
      await becomes(third, "delivered");
      expect(stage.written).toEqual(["third"]);
      expect([state(first), state(second)]).toEqual(["failed", "failed"]);
      expect(mailbox.inbox(user.id).map(({ message }) => [message.kind, message.inReplyTo])).toEqual([
        ["bounce", first.messageId],
        ["bounce", second.messageId],
      ]);
      expect(mailbox.history(first.messageId)!.steps.get(first.id)!.at(-1)).toMatchObject({
        verb: "claim",
        from: "queued",
        to: "failed",
        detail: expect.stringContaining("checksum"),
      });
    });

    test("is not given to an agent that asks, which gets the rest in order", async () => {
      const [first] = [await send("first"), await send("second"), await send("third")];
      altered.add("first");
      expect(bodies(await collect())).toEqual(["second", "third"]);
      expect(state(first!)).toBe("failed");
    });
  });

  test("acks start no turn, and are written only where text starts none", async () => {
    await courier.start();
    const ack = await send("ok", { kind: "ack" });
    await becomes(await send("real mail"), "delivered");
    expect([stage.written, state(ack)]).toEqual([["real mail"], "queued"]);
    stage.traits = { ...stage.traits, quiet: true };
    courier.wake(bob.id);
    await becomes(ack, "delivered");
  });

  test("whose word it counted as is known after a crash in the middle of the attempt", async () => {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    stage.outcome = () => promise;
    await courier.start();
    const delivery = await send("typed");
    await becomes(delivery, "claimed");
    await mailbox.recover(Date.now(), "start");
    await mailbox.confirm(delivery.id, "transcript");
    expect(mailbox.delivery(delivery.id)).toMatchObject({ state: "seen", transport: "tmux", authority: "user" });
    resolve({ kind: "delivered", proof: "screen" });
    faults.length = 0;
  });

  test("mail that waits again counts neither as user nor as peer", async () => {
    stage.outcome = { kind: "error", detail: "no" };
    await courier.start();
    const delivery = await send("refused");
    await becomes(delivery, "claimed");
    await becomes(delivery, "queued");
    expect(mailbox.delivery(delivery.id)).toMatchObject({ attempts: 1, authority: null });
  });
});
