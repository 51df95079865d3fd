import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { agentId, type Clock, type MessageId } from "../model/ids.ts";
import { seal, type Draft, type Message, type Sender } from "../model/message.ts";
import type { Delivery } from "../model/delivery.ts";
import { TagTaken, type Change, type Mailbox } from "../mailbox/port.ts";
import { afterDelivery } from "./mailboxContract/afterDelivery.ts";
import { counting } from "./mailboxContract/counting.ts";
import { finding } from "./mailboxContract/finding.ts";
import { longWaits } from "./mailboxContract/longWaits.ts";
import { retention } from "./mailboxContract/retention.ts";
import { withoutClaim } from "./mailboxContract/withoutClaim.ts";

export interface MailboxUnderTest {
  readonly mailbox: Mailbox;
  /** Closes and opens again on the same medium, as after a restart. */
  reopen?: () => Promise<Mailbox>;
  cleanUp: () => Promise<void>;
}

export const user: Sender = { id: agentId("user"), name: "user", team: "web", knownBy: "user" };
export const ana: Sender = { id: agentId("a-1"), name: "ana", team: "web", knownBy: "token" };
const bob = { id: agentId("b-1"), name: "bob" };
const cy = { id: agentId("c-1"), name: "cy" };
const pushed = { transport: "tmux", authority: "user" } as const;

/** What every mailbox promises, whatever it is stored in. */
export function mailboxContract(name: string, open: (clock: Clock) => Promise<MailboxUnderTest>): void {
  describe(`mailbox contract: ${name}`, () => {
    let subject: MailboxUnderTest;
    let mailbox: Mailbox;
    let now: number;
    const clock = (): number => now;

    beforeEach(async () => {
      now = 1_800_000_000_000;
      subject = await open(clock);
      mailbox = subject.mailbox;
    });
    afterEach(() => subject.cleanUp());

    const message = (body = "hello", from = user, draft: Partial<Draft> = {}, reply: Message | null = null): Message =>
      seal({ to: "bob", body, ...draft }, from, { inReplyTo: reply, hops: 1 }, { clock });
    const accept = async (sealed = message(), to = [bob]): Promise<Delivery> =>
      (await mailbox.accept(sealed, to)).deliveries[0]!;
    const claim = async (delivery: Delivery, lane: "push" | "pull" = "push"): Promise<Delivery> => {
      const claimed = await mailbox.claim(delivery.id, { lane, now, transport: "tmux" });
      expect(claimed?.state).toBe("claimed");
      return claimed!;
    };
    const delivered = async (): Promise<Delivery> => {
      const one = await claim(await accept());
      return mailbox.settle(one.id, { kind: "delivered", proof: "screen" }, pushed);
    };
    const refusal = async (promise: Promise<unknown>): Promise<string> =>
      promise.then(
        () => "no refusal",
        (error: { code: string }) => error.code,
      );

    test("accept stores one queued delivery per recipient", async () => {
      const sealed = message("two of you");
      const receipt = await mailbox.accept(sealed, [bob, cy]);
      expect(receipt.deliveries.map((one) => [one.agentName, one.state])).toEqual([
        ["bob", "queued"],
        ["cy", "queued"],
      ]);
      expect(mailbox.receipt(sealed.tag)).toEqual(receipt);
      expect(mailbox.message(sealed.id)).toEqual(sealed);
      expect(mailbox.pending(bob.id)).toBe(1);
    });

    test("every field of a message survives storage", async () => {
      const first = message("question", ana, { expectsReply: true });
      await mailbox.accept(first, [bob]);
      const reply = message(
        "ünïcode 漢字 🎉\n\ttab",
        user,
        { when: "interrupt", hard: true, ttlMs: 60_000, idempotencyKey: "k", summary: "s", kind: "ack" },
        first,
      );
      await mailbox.accept(reply, [cy]);
      expect(mailbox.message(reply.tag)).toEqual(reply);
      expect(reply.thread).toBe(first.id);
    });

    test("the same key from the same sender is the same message", async () => {
      const first = await mailbox.accept(message("x", ana, { idempotencyKey: "k1" }), [bob]);
      const again = await mailbox.accept(message("x", ana, { idempotencyKey: "k1" }), [bob]);
      expect(again.message.id).toBe(first.message.id);
      expect(mailbox.inbox(bob.id)).toHaveLength(1);
      await mailbox.accept(message("x", user, { idempotencyKey: "k1" }), [bob]);
      expect(mailbox.inbox(bob.id)).toHaveLength(2);
    });

    test("the same key with other content is a conflict and stores nothing", async () => {
      await accept(message("x", ana, { idempotencyKey: "k1" }));
      expect(await refusal(accept(message("y", ana, { idempotencyKey: "k1" })))).toBe("CONFLICT");
      expect(mailbox.inbox(bob.id)).toHaveLength(1);
    });

    test("one refused verb in a batch does not disturb the others", async () => {
      await accept(message("x", ana, { idempotencyKey: "k1" }));
      const results = await Promise.allSettled([
        accept(message("1")),
        accept(message("y", ana, { idempotencyKey: "k1" })),
        accept(message("2")),
      ]);
      expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      expect(mailbox.inbox(bob.id).map((row) => row.message.body)).toEqual(["x", "1", "2"]);
    });

    test("a taken tag is refused so that the sender can draw again", async () => {
      const first = message("x");
      await accept(first);
      const twin = { ...message("y"), tag: first.tag };
      expect(await accept(twin).catch((error: unknown) => error)).toBeInstanceOf(TagTaken);
    });

    test("heads are the first of each kind of urgency, most urgent first", async () => {
      await accept(message("turn 1"));
      await accept(message("turn 2"));
      await accept(message("stop", user, { when: "interrupt" }));
      await accept(message("soon", user, { when: "tool" }));
      const bodies = mailbox.heads(bob.id, now).map((head) => mailbox.message(head.messageId)!.body);
      expect(bodies).toEqual(["stop", "soon", "turn 1"]);
      expect(mailbox.waiting()).toEqual([bob.id]);
    });

    test("acks and bounces start no turn but are in the inbox", async () => {
      await accept(message("ok", ana, { kind: "ack" }));
      expect(mailbox.heads(bob.id, now)).toEqual([]);
      expect(mailbox.inbox(bob.id, { pending: true })).toHaveLength(1);
    });

    test("the push lane holds one claim per agent; the pull lane is not blocked by it", async () => {
      const [one, two] = [await accept(message("1")), await accept(message("2"))];
      await claim(one);
      expect(await mailbox.claim(two.id, { lane: "push", now, transport: "tmux" })).toBeNull();
      expect((await mailbox.claim(two.id, { lane: "pull", now, transport: "pull" }))?.leaseUntil).toBeGreaterThan(now);
      expect(await mailbox.claim(one.id, { lane: "pull", now, transport: "pull" })).toBeNull();
    });

    test("two concurrent claims of one delivery: exactly one gets it", async () => {
      const one = await accept();
      const claims = await Promise.all(
        [1, 2, 3].map(() => mailbox.claim(one.id, { lane: "push", now, transport: "tmux" })),
      );
      expect(claims.filter((claimed) => claimed !== null)).toHaveLength(1);
    });

    test("delivered by a weak proof, seen by a proof from the model's side", async () => {
      const weak = await claim(await accept(message("1")));
      expect(await mailbox.settle(weak.id, { kind: "delivered", proof: "screen" }, pushed)).toMatchObject({
        state: "delivered",
        proof: "screen",
        transport: "tmux",
        authority: "user",
      });
      const strong = await claim(await accept(message("2")));
      expect((await mailbox.settle(strong.id, { kind: "delivered", proof: "tool" }, pushed)).state).toBe("seen");
      expect(mailbox.pending(bob.id)).toBe(0);
    });

    test("a hold costs no attempt, keeps its first time and leaves the delivery first in line", async () => {
      const one = await accept();
      await mailbox.hold(one.id, { reason: "dialog", detail: "a dialog is open in %14" });
      now += 5_000;
      await mailbox.hold(one.id, { reason: "dialog", detail: "a dialog is open in %14" });
      expect(mailbox.delivery(one.id)).toMatchObject({
        state: "queued",
        reason: "dialog",
        attempts: 0,
        reasonAt: now - 5_000,
      });
      expect(mailbox.history(one.messageId)!.steps.get(one.id)).toHaveLength(2);
      await claim(one);
      await mailbox.settle(one.id, { kind: "held", hold: { reason: "draft", detail: "%9 is in use" } }, pushed);
      expect(mailbox.heads(bob.id, now)[0]).toMatchObject({ id: one.id, reason: "draft", attempts: 0 });
    });

    test("the third error is a dead letter with a bounce to the sender", async () => {
      const one = await accept(message("lost", ana));
      for (let attempt = 1; attempt <= 3; attempt++) {
        now += 10_000;
        await claim(mailbox.heads(bob.id, now)[0]!);
        await mailbox.settle(one.id, { kind: "error", detail: "broken pipe" }, pushed);
      }
      expect(mailbox.delivery(one.id)).toMatchObject({ state: "failed", attempts: 3, detail: "broken pipe" });
      const [bounce] = mailbox.inbox(ana.id);
      expect(bounce!.message).toMatchObject({ kind: "bounce", inReplyTo: one.messageId });
      expect(bounce!.message.body).toContain("broken pipe");
    });

    test("after an error the next attempt waits, and nothing overtakes it", async () => {
      const one = await claim(await accept(message("1")));
      await accept(message("2"));
      await mailbox.settle(one.id, { kind: "error", detail: "x" }, pushed);
      expect(mailbox.heads(bob.id, now)).toEqual([]);
      expect(mailbox.nextDueAt()).toBe(now + 1_000);
      expect(mailbox.heads(bob.id, now + 1_000)[0]!.id).toBe(one.id);
    });

    withoutClaim(() => ({ mailbox, message, accept, claim }));

    test("an unknown outcome is uncertain and leaves only by proof or by a user", async () => {
      const one = await claim(await accept(message("x", user, { ttlMs: 1_000 })));
      await mailbox.settle(one.id, { kind: "unknown", detail: "the pipe broke" }, pushed);
      now += 10_000;
      expect(await mailbox.expire(now)).toEqual([]);
      expect(mailbox.delivery(one.id)!.state).toBe("uncertain");
      expect((await mailbox.confirm(one.id, "transcript")).state).toBe("seen");
    });

    test("an uncertain delivery proved absent is queued again with an attempt spent", async () => {
      const one = await claim(await accept());
      await mailbox.settle(one.id, { kind: "unknown", detail: "?" }, pushed);
      expect(await mailbox.settle(one.id, { kind: "absent", detail: "not typed" }, pushed)).toMatchObject({
        state: "queued",
        attempts: 1,
      });
    });

    test("a proof is raised, never lowered", async () => {
      const one = await claim(await accept());
      await mailbox.settle(one.id, { kind: "delivered", proof: "submitted" }, pushed);
      expect((await mailbox.confirm(one.id, "screen")).proof).toBe("submitted");
      expect(await mailbox.confirm(one.id, "transcript")).toMatchObject({ state: "seen", proof: "transcript" });
      expect(await mailbox.confirm(one.id, "submitted")).toMatchObject({ state: "seen", proof: "transcript" });
    });

    test("a reply answers the delivery to its writer, whatever proof it had", async () => {
      const question = message("?", user);
      const one = await claim(await accept(question));
      await mailbox.settle(one.id, { kind: "delivered", proof: "screen" }, pushed);
      const bobs: Sender = { id: bob.id, name: "bob", team: "web", knownBy: "token" };
      await mailbox.accept(message("!", bobs, { to: "user" }, question), [{ id: user.id, name: "user" }]);
      expect(mailbox.delivery(one.id)).toMatchObject({ state: "answered", proof: "reply", answeredAt: now });
    });

    test("a reply to a message that was not delivered is noted and does not stop the delivery", async () => {
      const question = message("?", user);
      const one = await accept(question);
      const bobs: Sender = { id: bob.id, name: "bob", team: "web", knownBy: "token" };
      await mailbox.accept(message("!", bobs, { to: "user" }, question), [{ id: user.id, name: "user" }]);
      expect(mailbox.delivery(one.id)).toMatchObject({ state: "queued", answeredAt: now });
      await claim(one);
    });

    test("an attempt that was answered meanwhile keeps the answer when it is settled", async () => {
      const question = message("?", user);
      const one = await claim(await accept(question));
      const bobs: Sender = { id: bob.id, name: "bob", team: "web", knownBy: "token" };
      await mailbox.accept(message("!", bobs, { to: "user" }, question), [{ id: user.id, name: "user" }]);
      expect((await mailbox.settle(one.id, { kind: "delivered", proof: "screen" }, pushed)).state).toBe("answered");
    });

    test("mail expires only while it waits, and its sender gets a bounce", async () => {
      const waits = await accept(message("late", ana, { ttlMs: 1_000 }));
      const goes = await accept(message("in time", ana, { ttlMs: 1_000 }), [cy]);
      await claim(goes);
      expect(mailbox.nextDueAt()).toBe(now + 1_000);
      now += 1_000;
      expect((await mailbox.expire(now)).map((one) => one.id)).toEqual([waits.id]);
      expect(mailbox.delivery(waits.id)!.state).toBe("expired");
      expect(mailbox.inbox(ana.id)[0]!.message.kind).toBe("bounce");
    });

    test("cancel recalls what waits; a claim in flight is a conflict", async () => {
      const one = await accept();
      expect((await mailbox.cancel(one.messageId)).deliveries[0]!.state).toBe("cancelled");
      const two = await claim(await accept());
      expect(await refusal(mailbox.cancel(two.messageId))).toBe("CONFLICT");
      expect(await refusal(mailbox.cancel("nothing" as MessageId))).toBe("MESSAGE_UNKNOWN");
    });

    test("cancel of a broadcast recalls those that still can be", async () => {
      const receipt = await mailbox.accept(message("all"), [bob, cy]);
      await claim(receipt.deliveries[0]!);
      const after = await mailbox.cancel(receipt.message.id);
      expect(after.deliveries.map((one) => one.state)).toEqual(["claimed", "cancelled"]);
    });

    test("retry queues a dead letter again under the same tag with no attempts", async () => {
      const one = await accept(message("x", ana, { ttlMs: 10 }));
      now += 10;
      await mailbox.expire(now);
      const again = await mailbox.retry(one.messageId);
      expect(again.deliveries[0]).toMatchObject({ id: one.id, state: "queued", attempts: 0, expiresAt: null });
      expect(await refusal(mailbox.retry(one.messageId))).toBe("CONFLICT");
    });

    test("recover finds claims of a dead process, and leases that ran out", async () => {
      const pushedOne = await claim(await accept(message("1")));
      const leased = await claim(await accept(message("2")), "pull");
      expect(await mailbox.recover(now, "leases")).toEqual([]);
      now += 10_000;
      expect((await mailbox.recover(now, "leases")).map((one) => one.id)).toEqual([leased.id]);
      expect((await mailbox.recover(now, "start")).map((one) => one.id)).toEqual([pushedOne.id]);
      expect(mailbox.deliveriesIn(["uncertain"])).toHaveLength(2);
    });

    afterDelivery(() => ({ mailbox, delivered }));
    longWaits(() => ({ mailbox, accept, claim }));

    test("each change is reported once, after it is durable, in order", async () => {
      const told: Change[] = [];
      const stop = mailbox.onTransitions((changes) => told.push(...changes));
      const one = await claim(await accept());
      await mailbox.settle(one.id, { kind: "delivered", proof: "screen" }, pushed);
      stop();
      await accept();
      expect(told.map(({ transition }) => `${transition.verb}:${transition.to}`)).toEqual([
        "accept:queued",
        "claim:claimed",
        "settle:delivered",
      ]);
      expect(told.at(-1)!.delivery).toEqual(mailbox.delivery(one.id)!);
    });

    test("mail that comes is foretold before it is stored", async () => {
      const foretold: object[] = [];
      const stop = mailbox.onComing(
        ({ id, body }, recipients) =>
          void foretold.push({ body, to: recipients.map((one) => one.name), stored: mailbox.message(id) }),
      );
      await mailbox.accept(message("first"), [bob, cy]);
      stop();
      await accept(message("second"));
      expect(foretold).toEqual([{ body: "first", to: ["bob", "cy"], stored: null }]);
    });

    const searched = () => ({ mailbox, message, wait: (ms: number) => void (now += ms), clock });
    finding(searched);
    counting(searched, async () => (subject.reopen ? (mailbox = await subject.reopen()) : null));

    test("the counts behind the loop guards", async () => {
      await mailbox.accept(message("1", ana), [bob, cy]);
      await accept(message("ok", ana, { kind: "ack" }));
      now += 61_000;
      const delivered = await claim(await accept({ ...message("2", ana), hops: 5 }));
      await mailbox.settle(delivered.id, { kind: "delivered", proof: "screen" }, pushed);
      expect(mailbox.sentSince(ana.id, null, now - 60_000)).toBe(1);
      expect(mailbox.sentSince(ana.id, cy.id, 0)).toBe(1);
      expect(mailbox.sentSince(ana.id, null, 0)).toBe(3);
      expect(mailbox.hopsAround(bob.id)).toBe(5);
      const fromUser = await claim(await accept(message("new task", user), [bob]));
      await mailbox.settle(fromUser.id, { kind: "delivered", proof: "screen" }, pushed);
      expect(mailbox.hopsAround(bob.id)).toBe(0);
    });

    retention(() => ({ mailbox, message, accept, claim, wait: (ms) => void (now += ms), clock }));

    test("what was accepted is there after a restart", async () => {
      if (!subject.reopen) return expect(name).toBe("memory");
      const one = await accept(message("durable"));
      await claim(await accept(message("in flight"), [cy]));
      mailbox = await subject.reopen();
      expect(mailbox.pending(bob.id)).toBe(1);
      expect(mailbox.heads(bob.id, now)[0]!.id).toBe(one.id);
      expect(await mailbox.recover(now, "start")).toHaveLength(1);
    });
  });
}
