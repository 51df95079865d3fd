import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seal } from "../../src/model/message.ts";
import { user } from "../../src/testing/mailboxContract.ts";
import {
  damagedCopy,
  damages,
  filledMailbox,
  openMailboxAt,
  readers,
  seeded,
  type OpenedMailbox,
} from "../../src/testing/damagedMailbox.ts";

const seeds = Number(process.env["TIELINE_DAMAGES"] ?? 5);

interface Refusal {
  readonly step: string;
  readonly thrown: unknown;
}

/** Everything that a daemon does with its mailbox, each step alone. Answers what was delivered and what was refused. */
async function exercise({
  mailbox,
  documents,
}: OpenedMailbox): Promise<{ delivered: Map<string, string>; refusals: Refusal[] }> {
  const delivered = new Map<string, string>();
  const refusals: Refusal[] = [];
  const attempt = async (step: () => unknown): Promise<void> => {
    try {
      await step();
    } catch (thrown) {
      refusals.push({ step: String(step), thrown });
    }
  };
  await attempt(() => documents.all("agent"));
  await attempt(() => mailbox.log({ limit: 1_000 }));
  await attempt(() => mailbox.log({ grep: "ipsum" }));
  await attempt(() => mailbox.deliveriesIn(["queued", "claimed", "delivered", "failed"]));
  await attempt(() => mailbox.nextDueAt());
  for (const reader of readers) {
    await attempt(() => mailbox.heads(reader.id, Date.now()));
    await attempt(async () => {
      for (const { delivery, message } of mailbox.inbox(reader.id, { pending: true, limit: 1_000 })) {
        await attempt(async () => {
          const claimed = await mailbox.claim(delivery.id, { lane: "pull", now: Date.now(), transport: "pull" });
          if (claimed === null) return;
          delivered.set(message.tag, message.body);
          await mailbox.settle(
            claimed.id,
            { kind: "delivered", proof: "tool" },
            { transport: "pull", authority: "peer" },
          );
        });
      }
    });
  }
  await attempt(() =>
    mailbox.accept(seal({ to: "x", body: "one more" }, user, { inReplyTo: null, hops: 1 }), [readers[0]!]),
  );
  await attempt(() => documents.put("agent", "agent-3", { name: "agent-3" }));
  await attempt(() => mailbox.index(1_000));
  await attempt(() => mailbox.recover(Date.now(), "start"));
  await attempt(() =>
    mailbox.prune({ olderThan: Date.now() + 1, freshSince: Date.now() + 1, maxBytes: 1e12, batch: 50 }),
  );
  return { delivered, refusals };
}

describe("a damaged mailbox.db", () => {
  let dir: string;
  let original: string;
  let sent: ReadonlyMap<string, string>;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "tl-damage-"));
    original = join(dir, "original.db");
    sent = await filledMailbox(original);
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  test.each(damages)(
    `is refused as damaged, or its whole part serves on, and no altered text is delivered: %s`,
    async (damage) => {
      const outcomes = { refused: 0, served: 0, steps: 0, delivered: 0 };
      for (let seed = 1; seed <= seeds; seed++) {
        const copy = damagedCopy(original, join(dir, `${damage} ${seed}`), damage, seeded(seed));
        let opened: OpenedMailbox;
        try {
          opened = openMailboxAt(copy);
        } catch (thrown) {
          expect([damage, seed, thrown]).toEqual([damage, seed, expect.objectContaining({ code: "STORE_CORRUPT" })]);
          outcomes.refused++;
          continue;
        }
        const { delivered, refusals } = await exercise(opened);
        for (const { step, thrown } of refusals)
          expect([damage, seed, step, thrown]).toEqual([
            damage,
            seed,
            step,
            expect.objectContaining({ code: "STORE_CORRUPT" }),
          ]);
        for (const [tag, body] of delivered)
          expect([damage, seed, tag, body]).toEqual([damage, seed, tag, sent.get(tag)!]);
        await opened[Symbol.asyncDispose]();
        outcomes.served++;
        outcomes.steps += refusals.length;
        outcomes.delivered += delivered.size;
      }
      console.log(
        `${damage}: ${outcomes.refused} refused at the start, ${outcomes.served} served; ${outcomes.steps} ` +
          `steps refused, ${outcomes.delivered} messages delivered`,
      );
      expect(outcomes.refused + outcomes.served).toBe(seeds);
    },
    300_000,
  );
});
