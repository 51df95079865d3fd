import { describe, expect, test } from "bun:test";
import { agentId } from "../model/ids.ts";
import { seal } from "../model/message.ts";
import { ana, user } from "../testing/mailboxContract.ts";
import { openMailbox } from "./mailbox.ts";
import { memoryStore } from "./memory/store.ts";
import { Retention } from "./retention.ts";

const bob = [{ id: agentId("b"), name: "bob" }];
const message = (body: string, from = ana, kind: "text" | "ack" = "text", key?: string) =>
  seal({ to: "bob", body, kind, ...(key !== undefined && { idempotencyKey: key }) }, from, {
    inReplyTo: null,
    hops: 1,
  });
const full = expect.objectContaining({
  code: "STORE_FULL",
  operands: { used: expect.any(Number), limit: expect.any(Number) },
});

describe("a mailbox that is full of waiting mail", () => {
  const fill = async (maxBytes: number) => {
    const mailbox = openMailbox(memoryStore(), { maxBytes });
    let accepted = 0;
    for (; ; accepted++) {
      const thrown = await mailbox.accept(message("x".repeat(10_000)), bob).then(
        () => null,
        (error: unknown) => error,
      );
      if (thrown !== null) return { mailbox, accepted, thrown };
    }
  };

  test("refuses the newest message and keeps all others", async () => {
    const { mailbox, accepted, thrown } = await fill(1_000_000);
    expect(thrown).toEqual(full);
    expect(accepted).toBeGreaterThan(60);
    expect(mailbox.inbox(bob[0]!.id, { limit: 1_000 })).toHaveLength(accepted);
    expect(mailbox.pending(bob[0]!.id)).toBe(accepted);
  });

  test("refuses acks as well, and keeps a little room for the user", async () => {
    const { mailbox } = await fill(1_000_000);
    expect(await mailbox.accept(message("ok".repeat(5_000), ana, "ack"), bob).catch((error: unknown) => error)).toEqual(
      full,
    );
    await mailbox.accept(message("stop, all of you", user), bob);
    let more = 0;
    while (
      await mailbox.accept(message("y".repeat(10_000), user), bob).then(
        () => true,
        () => false,
      )
    )
      more++;
    expect(more).toBeGreaterThan(0);
    expect(more).toBeLessThan(20);
  });

  test("answers a repeated send with the message that it has", async () => {
    const mailbox = openMailbox(memoryStore(), { maxBytes: 40_000 });
    const sealed = message("z".repeat(9_000), ana, "text", "once");
    const first = await mailbox.accept(sealed, bob);
    while (
      await mailbox.accept(message("x".repeat(9_000)), bob).then(
        () => true,
        () => false,
      )
    );
    expect((await mailbox.accept(message("z".repeat(9_000), ana, "text", "once"), bob)).message.id).toBe(
      first.message.id,
    );
  });

  test("accepts again once something may go, which is looked for at once", async () => {
    const { mailbox } = await fill(1_000_000);
    const removed: number[] = [];
    const watched = {
      ...mailbox,
      prune: async (limits: Parameters<typeof mailbox.prune>[0]) => {
        const pruned = await mailbox.prune(limits);
        removed.push(pruned.removed);
        return pruned;
      },
    };
    using retention = new Retention(watched, {
      maxAgeMs: 1e12,
      maxBytes: 1_000_000,
      soonMs: 0,
      report: (_, fault) => {
        throw fault;
      },
    });
    retention.start();
    expect(await mailbox.accept(message("x".repeat(10_000)), bob).catch((error: unknown) => error)).toEqual(full);
    for (const { message: waiting } of mailbox.inbox(bob[0]!.id, { limit: 30 })) await mailbox.cancel(waiting.id);
    // The refusal asks for a sweep; it is over when the same message is accepted.
    for (;;) {
      if (
        await mailbox.accept(message("x".repeat(10_000)), bob).then(
          () => true,
          () => false,
        )
      )
        break;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(removed.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  });

  test("is measured by its pages, and by nothing while there is no limit", async () => {
    let asked = 0;
    const store = memoryStore();
    const mailbox = openMailbox({ ...store, usedBytes: () => (asked++, store.usedBytes()) }, { maxBytes: 1_000_000 });
    for (let at = 0; at < 20; at++) await mailbox.accept(message("short"), bob);
    expect(asked).toBe(1);
  });
});
