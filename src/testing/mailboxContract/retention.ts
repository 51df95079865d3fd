import { describe, expect, test } from "bun:test";
import type { Mailbox } from "../../mailbox/port.ts";
import type { Delivery } from "../../model/delivery.ts";
import { agentId, type Clock } from "../../model/ids.ts";
import type { Draft, Message, Sender } from "../../model/message.ts";

const user: Sender = { id: agentId("user"), name: "user", team: "web", knownBy: "user" };
const ana: Sender = { id: agentId("a-1"), name: "ana", team: "web", knownBy: "token" };
const bob = { id: agentId("b-1"), name: "bob" };
const cy = { id: agentId("c-1"), name: "cy" };
const pushed = { transport: "tmux", authority: "user" } as const;

export interface Retained {
  readonly mailbox: Mailbox;
  readonly clock: Clock;
  wait(ms: number): void;
  message(body: string, from?: Sender, draft?: Partial<Draft>, reply?: Message | null): Message;
  accept(sealed?: Message, to?: (typeof bob)[]): Promise<Delivery>;
  claim(delivery: Delivery): Promise<Delivery>;
}

/** The part of the contract about what is removed, and when. */
export function retention(subject: () => Retained): void {
  const mailbox = (): Mailbox => subject().mailbox;
  const clock = (): number => subject().clock();
  const wait = (ms: number): void => subject().wait(ms);
  const message: Retained["message"] = (...of) => subject().message(...of);
  const accept: Retained["accept"] = (...of) => subject().accept(...of);
  const claim: Retained["claim"] = (delivery) => subject().claim(delivery);

  describe("retention", () => {
    const unlimited = Number.MAX_SAFE_INTEGER;
    const deliver = async (sealed: Message, state: "delivered" | "seen" = "delivered"): Promise<Delivery> => {
      const claimed = await claim(await accept(sealed));
      return mailbox().settle(claimed.id, { kind: "delivered", proof: state === "seen" ? "tool" : "screen" }, pushed);
    };
    /** Sweeps over everything, as Retention does. */
    const sweep = async (
      limits: { olderThan: number; freshSince: number; maxBytes: number },
      batch = 2,
    ): Promise<number> => {
      let removed = 0;
      for (let after: number | null = 0; after !== null;) {
        const pruned = await mailbox().prune({ ...limits, batch, after });
        removed += pruned.removed;
        after = pruned.next;
      }
      return removed;
    };
    const left = (): string[] =>
      mailbox()
        .log({ limit: 1_000 })
        .map((one) => one.message.body);

    test("removes old finished messages in batches, never open ones", async () => {
      await accept(message("open"));
      for (const body of ["1", "2", "3"]) await mailbox().cancel((await accept(message(body))).messageId);
      wait(100);
      expect(await sweep({ olderThan: 0, freshSince: clock(), maxBytes: unlimited })).toBe(0);
      expect(
        await mailbox().prune({ olderThan: clock(), freshSince: clock(), maxBytes: unlimited, batch: 2 }),
      ).toMatchObject({
        removed: 1,
        next: expect.any(Number),
      });
      expect(await sweep({ olderThan: clock(), freshSince: clock(), maxBytes: unlimited })).toBe(2);
      expect(left()).toEqual(["open"]);
    });

    test("keeps recent deliveries and failures, however old the message and full the mailbox", async () => {
      await deliver(message("delivered long ago"));
      const late = await accept(message("delivered now"));
      const dead = await accept(message("expired now", ana, { ttlMs: 90_000 }), [cy]);
      wait(100_000);
      await claim(late);
      await mailbox().settle(late.id, { kind: "delivered", proof: "screen" }, pushed);
      await mailbox().expire(clock());
      expect(mailbox().delivery(dead.id)!.state).toBe("expired");
      const limits = { olderThan: clock() - 1_000, freshSince: clock() - 1_000 };
      expect(await sweep({ ...limits, maxBytes: unlimited })).toBe(1);
      expect(await sweep({ ...limits, maxBytes: 0 })).toBe(0);
      expect(left().slice(0, 2)).toEqual(["delivered now", "expired now"]);
    });

    test("keeps unanswered messages until they are old; removes answered and cancelled ones when crowded", async () => {
      await deliver(message("question", user, { expectsReply: true }));
      const asked = message("answered question", user, { expectsReply: true });
      await deliver(asked, "seen");
      const bobs: Sender = { id: bob.id, name: "bob", team: "web", knownBy: "token" };
      await mailbox().accept(message("answer", bobs, { to: "user" }, asked), [{ id: user.id, name: "user" }]);
      await deliver(message("statement"));
      wait(100_000);
      await mailbox().cancel((await accept(message("cancelled just now"))).messageId);
      await mailbox().accept(message("without recipients"), []);
      const limits = { olderThan: clock() - 1_000_000, freshSince: clock() - 1_000 };
      expect(await sweep({ ...limits, maxBytes: unlimited })).toBe(0);
      expect(await sweep({ ...limits, maxBytes: 0 })).toBe(3);
      expect(left()).toEqual(["question", "answer", "without recipients"]);
      expect(await sweep({ ...limits, olderThan: clock(), maxBytes: unlimited })).toBe(1);
      expect(left()).toEqual(["answer", "without recipients"]);
    });
  });

  test("a delivery's number is never used again", async () => {
    const first = await accept();
    await mailbox().cancel(first.messageId);
    wait(100);
    await mailbox().prune({ olderThan: clock(), freshSince: clock(), maxBytes: Number.MAX_SAFE_INTEGER, batch: 10 });
    expect((await accept()).id).toBeGreaterThan(first.id);
  });
}
