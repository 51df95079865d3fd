import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Mailbox } from "../mailbox/port.ts";
import type { Delivery } from "../model/delivery.ts";
import { agentId, type Clock } from "../model/ids.ts";
import { seal, type Draft } from "../model/message.ts";
import { user, type MailboxUnderTest } from "./mailboxContract.ts";

const bob = { id: agentId("b-1"), name: "bob" };
const dayMs = 86_400_000;
const jumps = [60_000, -60_000, 600_000, -600_000, 60 * dayMs, -60 * dayMs];

/** What every mailbox promises about a clock that is set. */
export function mailboxTimeContract(name: string, open: (clock: Clock) => Promise<MailboxUnderTest>): void {
  describe(`mailbox and a clock that is set: ${name}`, () => {
    let subject: MailboxUnderTest;
    let mailbox: Mailbox;
    let now: number;
    beforeEach(async () => {
      now = 1_800_000_000_000;
      subject = await open(() => now);
      mailbox = subject.mailbox;
    });
    afterEach(() => subject.cleanUp());

    const accept = async (body: string, draft: Partial<Draft> = {}): Promise<Delivery> =>
      (
        await mailbox.accept(
          seal({ to: "bob", body, ...draft }, user, { inReplyTo: null, hops: 1 }, { clock: () => now }),
          [bob],
        )
      ).deliveries[0]!;
    const claim = async ({ id }: Delivery, lane: "push" | "pull" = "push"): Promise<Delivery> =>
      (await mailbox.claim(id, { lane, now, transport: "tmux" }))!;
    const way = { transport: "tmux", authority: "user" } as const;

    test.each(jumps)("what is open keeps the time that is left to it when the clock is set by %d ms", async (jump) => {
      const expiring = await accept("expires", { ttlMs: 30_000 });
      const failed = await claim(await accept("fails"));
      await mailbox.settle(failed.id, { kind: "error", detail: "no" }, way);
      const leased = await claim(await accept("is read"), "pull");
      const left = (id: Delivery["id"]): (number | null)[] => {
        const { expiresAt, availableAt, leaseUntil, updatedAt, reasonAt } = mailbox.delivery(id)!;
        return [expiresAt, availableAt, leaseUntil, updatedAt, reasonAt].map((at) => (at === null ? null : at - now));
      };
      const before = [expiring, failed, leased].map(({ id }) => left(id));
      const dueIn = mailbox.nextDueAt()! - now;
      now += jump;
      await mailbox.moveDeadlines(jump);
      expect([expiring, failed, leased].map(({ id }) => left(id))).toEqual(before);
      expect(mailbox.nextDueAt()! - now).toBe(dueIn);
      // What was moved once needs no moving when the mailbox is opened again.
      expect(mailbox.lastWrittenAt()).toBe(now);
      expect(await mailbox.expire(now)).toEqual([]);
      expect(await mailbox.recover(now, "leases")).toEqual([]);
      now += 30_000;
      expect((await mailbox.expire(now)).map(({ id }) => id)).toEqual([expiring.id]);
    });

    test("what is over is not touched", async () => {
      const { id } = await accept("expires", { ttlMs: 1_000 });
      now += 1_000;
      await mailbox.expire(now);
      const { expiresAt } = mailbox.delivery(id)!;
      await mailbox.moveDeadlines(60_000);
      expect(mailbox.delivery(id)!.expiresAt).toBe(expiresAt);
    });

    test("says when something open was last written, so that a clock that was set back shows", async () => {
      expect(mailbox.lastWrittenAt()).toBeNull();
      const { id } = await accept("one");
      expect(mailbox.lastWrittenAt()).toBe(now);
      now -= 600_000;
      await mailbox.hold(id, { reason: "busy", detail: "later, and earlier by the clock" });
      await accept("two");
      expect(mailbox.lastWrittenAt()).toBeLessThanOrEqual(now + 600_000);
    });

    test("claims ascend, also after the clock was set back and after a restart", async () => {
      const first = await claim(await accept("one"), "pull");
      now -= 600_000;
      const second = await claim(await accept("two"), "pull");
      expect(second.claimedAt!).toBeGreaterThan(first.claimedAt!);
      expect(second.leaseUntil! - now).toBe(first.leaseUntil! - (now + 600_000));
      if (subject.reopen) mailbox = await subject.reopen();
      const third = await claim(await accept("three"), "pull");
      expect(third.claimedAt!).toBeGreaterThan(second.claimedAt!);
    });

    test("the log continues after a message, however the clock was set since", async () => {
      const ids = [];
      for (const [body, jump] of [
        ["one", 0],
        ["two", -600_000],
        ["three", 60 * dayMs],
        ["four", -60 * dayMs],
      ] as const) {
        now += jump;
        ids.push((await accept(body)).messageId);
      }
      const bodies = (filter: Parameters<Mailbox["log"]>[0]): string[] =>
        mailbox.log(filter).map((one) => one.message.body);
      expect(bodies({ after: ids[0]! })).toEqual(["two", "three", "four"]);
      expect(bodies({ after: ids[2]! })).toEqual(["four"]);
      expect(bodies({ before: ids[3]! })).toEqual(["one", "two", "three"]);
      expect(bodies({ oldest: true, limit: 2 })).toEqual(["one", "two"]);
      expect(bodies({ after: "" })).toEqual(["one", "two", "three", "four"]);
    });
  });
}
