import { describe, expect, test } from "bun:test";
import { createCourier } from "../delivery/courier.ts";
import { openMailbox } from "../mailbox/mailbox.ts";
import { memoryStore } from "../mailbox/memory/store.ts";
import type { Agent, Endpoint } from "../model/agent.ts";
import { proofs, type Delivery, type Outcome } from "../model/delivery.ts";
import { deliveryId } from "../model/ids.ts";
import { seal } from "../model/message.ts";
import type { Attempt, Transport } from "../delivery/transports/port.ts";
import { queued } from "../mailbox/steps.ts";
import { user } from "./mailboxContract.ts";
import { until } from "./until.ts";

export interface TransportUnderTest extends AsyncDisposable {
  readonly transport: Transport;
  readonly agent: Agent;
  readonly endpoint: Endpoint;
  /** The texts that reached the recipient, in order. */
  received(): readonly string[] | Promise<readonly string[]>;
  /** What else can be observed at the recipient: its files, its screen, whether it runs. */
  observe?(): unknown;
  /** Takes the recipient away for good. */
  vanish(): Promise<void>;
}

export interface TransportAbilities {
  /** Whether it can say afterwards that an attempt did arrive, or did not. */
  readonly remembers: boolean;
  /** What it says of a recipient that is gone. */
  readonly vanished: "gone" | "held";
}

/** What every transport promises, whatever is at its other end. */
export function transportContract(
  name: string,
  open: () => Promise<TransportUnderTest>,
  { remembers, vanished }: TransportAbilities,
): void {
  describe(`transport contract: ${name}`, () => {
    let lastId = 0;

    function attemptFor({ agent, endpoint }: TransportUnderTest, body: string): Attempt {
      const message = seal({ to: agent.name, body }, user, { inReplyTo: null, hops: 0 });
      const id = deliveryId(++lastId);
      const delivery: Delivery = { ...queued(message, agent), id, state: "claimed", lane: "push", claimedAt: lastId };
      return { message, delivery, agent, endpoint, mark: `contract:${id}:${lastId}` };
    }

    /** As the courier does: an attempt that was held wrote nothing, and is made again. */
    async function deliver({ transport }: TransportUnderTest, attempt: Attempt): Promise<Outcome> {
      for (;;) {
        await until(async () => (await transport.ready(attempt)).kind === "ready", "the recipient to be ready");
        const outcome = await transport.deliver(attempt, AbortSignal.timeout(10_000));
        if (outcome.kind !== "held") return outcome;
      }
    }

    test("`ready` only reads", async () => {
      await using subject = await open();
      const attempt = attemptFor(subject, "not yet");
      const before = await subject.observe?.();
      await until(async () => (await subject.transport.ready(attempt)).kind === "ready", "the recipient to be ready");
      for (let again = 0; again < 5; again++) await subject.transport.ready(attempt);
      expect(await subject.received()).toEqual([]);
      expect(await subject.observe?.()).toEqual(before);
    });

    test("a delivery arrives once, with a proof that this transport can give", async () => {
      await using subject = await open();
      const outcome = await deliver(subject, attemptFor(subject, 'once and whole: "quotes" $(none) ✓'));
      expect(outcome.kind).toBe("delivered");
      if (outcome.kind === "delivered")
        expect(proofs.indexOf(outcome.proof)).toBeLessThanOrEqual(proofs.indexOf(subject.transport.traits.bestProof));
      await until(async () => (await subject.received()).length > 0, "the text");
      expect(await subject.received()).toEqual([expect.stringContaining('once and whole: "quotes" $(none) ✓')]);
    });

    test("deliveries arrive in the order in which they were made", async () => {
      await using subject = await open();
      for (const body of ["first", "second", "third"]) await deliver(subject, attemptFor(subject, body));
      await until(async () => (await subject.received()).length >= 3, "three texts");
      expect(await subject.received()).toEqual(
        ["first", "second", "third"].map((body) => expect.stringContaining(body)),
      );
    });

    test("an attempt that was never made is not said to have arrived", async () => {
      await using subject = await open();
      expect((await subject.transport.inspect(attemptFor(subject, "never sent"))).kind).toBe(
        remembers ? "absent" : "unknown",
      );
      expect(await subject.received()).toEqual([]);
    });

    test("an attempt that arrived is not said to be absent, and is not repeated by looking for it", async () => {
      await using subject = await open();
      const attempt = attemptFor(subject, "look for me");
      await deliver(subject, attempt);
      await until(async () => (await subject.received()).length > 0, "the text");
      expect(remembers ? ["delivered"] : ["delivered", "unknown"]).toContain(
        (await subject.transport.inspect(attempt)).kind,
      );
      expect(await subject.received()).toHaveLength(1);
    });

    test("an attempt that was called off before it began ends, and what it says holds", async () => {
      await using subject = await open();
      const attempt = attemptFor(subject, "called off");
      await until(async () => (await subject.transport.ready(attempt)).kind === "ready", "the recipient to be ready");
      const { kind } = await subject.transport.deliver(attempt, AbortSignal.abort());
      if (kind === "unknown") return;
      // Once the next one is there, nothing of the first can be on its way any more.
      const next = attemptFor(subject, "after that");
      await deliver(subject, next);
      await until(async () => (await subject.received()).some((text) => text.includes("after that")), "the next text");
      const wanted = kind === "delivered" ? ["called off", "after that"] : ["after that"];
      expect(await subject.received()).toEqual(wanted.map((body) => expect.stringContaining(body)));
    });

    test("a recipient that is gone is an answer, not a fault", async () => {
      await using subject = await open();
      await subject.vanish();
      const attempt = attemptFor(subject, "to a missing recipient");
      expect((await subject.transport.ready(attempt)).kind).toBe(vanished);
      expect(["gone", "held", "error", "unknown"]).toContain(
        (await subject.transport.deliver(attempt, AbortSignal.timeout(2_000))).kind,
      );
    });

    test("refused again and again, it is tried ever more rarely, whatever its watch tells", async () => {
      await using subject = await open();
      const { agent, endpoint } = subject;
      const mailbox = openMailbox(memoryStore());
      const times: number[] = [];
      const refusing: Transport = {
        ...subject.transport,
        async deliver() {
          times.push(performance.now());
          return { kind: "held", hold: { reason: "busy", detail: "it changed just before the write" } };
        },
      };
      const endpoints = [endpoint, ...agent.endpoints.filter(({ transport }) => transport !== endpoint.transport)];
      const absent: Transport = {
        ...refusing,
        ready: async () => ({ kind: "gone", detail: "not under test" }),
        watch: () => ({ [Symbol.dispose]: () => undefined }),
      };
      const transports = new Map(
        endpoints.map(({ transport }) => [transport, transport === endpoint.transport ? refusing : absent]),
      );
      await using courier = createCourier({
        ...{ mailbox, transports, agent: () => ({ ...agent, endpoints }), retryMs: 20 },
        report(context, fault) {
          throw new Error(context, { cause: fault });
        },
      });
      await courier.start();
      const { deliveries } = await mailbox.accept(
        seal({ to: agent.name, body: "refused" }, user, { inReplyTo: null, hops: 0 }),
        [agent],
      );
      await until(() => {
        courier.wake(agent.id);
        return times.length >= 6;
      }, "six attempts");
      // A timer may be a millisecond early.
      for (let at = 1; at < times.length; at++)
        expect(times[at]! - times[at - 1]!).toBeGreaterThanOrEqual(20 * 2 ** (at - 1) - 2);
      expect(mailbox.history(deliveries[0]!.messageId)!.steps.get(deliveries[0]!.id)!.length).toBeLessThanOrEqual(
        3 * times.length + 5,
      );
      expect(await subject.received()).toEqual([]);
    });

    test("a watch can be ended, also twice", async () => {
      await using subject = await open();
      const watch = subject.transport.watch(subject.agent, subject.endpoint, () => undefined);
      watch[Symbol.dispose]();
      expect(() => watch[Symbol.dispose]()).not.toThrow();
    });
  });
}
