import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Delivery } from "../../../../model/delivery.ts";
import { memoryStore } from "../../../../mailbox/memory/store.ts";
import { openMailbox } from "../../../../mailbox/mailbox.ts";
import { seal } from "../../../../model/message.ts";
import { inboxFile } from "../../teams/teamInbox.ts";
import { anAgent } from "../../../../testing/agents.ts";
import { user } from "../../../../testing/mailboxContract.ts";
import { followUpInboxes } from "./followUp.ts";
import { claudeInboxEndpoint, claudeInboxTransport } from "./transport.ts";

/** A message that lies in an inbox, whose sender looks again after `patienceMs`. */
async function laid() {
  const folder = mkdtempSync(join(tmpdir(), "tl-follow-"));
  const inbox = join(folder, "inboxes", "bob.json");
  const endpoint = claudeInboxEndpoint(inbox);
  const bob = anAgent({ name: "bob", endpoints: [endpoint] });
  const mailbox = openMailbox(memoryStore(), {});
  const older = { from: "lead", text: "older", timestamp: "2020-01-01T00:00:00.000Z", read: false, messageId: "older" };
  await inboxFile(inbox).append(older);
  const receipt = await mailbox.accept(seal({ to: "bob", body: "hello" }, user, { inReplyTo: null, hops: 0 }), [bob]);
  const { id } = receipt.deliveries[0]!;
  const delivery = (await mailbox.claim(id, { lane: "push", now: Date.now(), transport: "claude-inbox" }))!;
  const outcome = await claudeInboxTransport().deliver(
    { message: receipt.message, delivery, agent: bob, endpoint, mark: "m" },
    AbortSignal.timeout(1_000),
  );
  await mailbox.settle(id, outcome, { transport: "claude-inbox", authority: "peer" });
  const stop = new AbortController();
  return {
    inbox,
    older,
    /** Looks again, and answers what the receipt says then. */
    async lookedAgain(): Promise<Pick<Delivery, "state" | "warning" | "detail">> {
      const faults: unknown[] = [];
      const looked = Promise.withResolvers<void>();
      const watched = {
        ...bindAll(mailbox),
        message: (reference: string) => (looked.resolve(), mailbox.message(reference)),
      };
      const over = followUpInboxes({
        mailbox: watched,
        agent: () => bob,
        layout: "inboxes",
        report: (_, fault) => void faults.push(fault),
        signal: stop.signal,
        patienceMs: 0,
      });
      await looked.promise;
      stop.abort();
      await over;
      expect(faults).toEqual([]);
      return mailbox.delivery(id)!;
    },
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true }),
  };
}

function bindAll(mailbox: ReturnType<typeof openMailbox>) {
  return {
    onTransitions: mailbox.onTransitions.bind(mailbox),
    deliveriesIn: mailbox.deliveriesIn.bind(mailbox),
    delivery: mailbox.delivery.bind(mailbox),
    warn: mailbox.warn.bind(mailbox),
    settle: mailbox.settle.bind(mailbox),
  };
}

test("does not warn about a row that was read", async () => {
  await using subject = await laid();
  writeFileSync(subject.inbox, "[]");
  expect(await subject.lookedAgain()).toMatchObject({ state: "delivered", warning: null });
});

test("warns about an unread row", async () => {
  await using subject = await laid();
  expect(await subject.lookedAgain()).toMatchObject({
    state: "delivered",
    warning: "it is still unread in the inbox of bob",
  });
});

test("makes a delivery uncertain that another program overwrote", async () => {
  await using subject = await laid();
  writeFileSync(subject.inbox, JSON.stringify([subject.older]));
  expect(await subject.lookedAgain()).toMatchObject({
    state: "uncertain",
    detail: "another program overwrote the inbox before bob read it; it is probably lost",
  });
});
