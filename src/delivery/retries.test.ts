import { expect, test } from "bun:test";
import { openMailbox } from "../mailbox/mailbox.ts";
import { memoryStore } from "../mailbox/memory/store.ts";
import { userId } from "../model/agent.ts";
import { seal } from "../model/message.ts";
import { anAgent } from "../testing/agents.ts";
import { user } from "../testing/mailboxContract.ts";
import { until } from "../testing/until.ts";
import { Outages } from "./outages.ts";
import { Retries } from "./retries.ts";

/** A delivered message, and an agent whose program says why its model does not answer. */
async function delivered() {
  const mailbox = openMailbox(memoryStore());
  const ana = anAgent({ name: "ana", provider: "codex" });
  const said: { why: string | null | undefined; looks: number } = { why: null, looks: 0 };
  const report = (_: string, fault: unknown): never => {
    throw fault;
  };
  const outages = new Outages({ mailbox, report });
  const retrying = async (): Promise<string | null | undefined> => {
    said.looks++;
    return said.why;
  };
  const retries = new Retries({
    mailbox,
    agent: () => ana,
    retrying,
    model: outages,
    report,
    firstMs: 1,
    slowestMs: 1,
  });
  retries.start();
  const send = async (body: string) => {
    const { deliveries } = await mailbox.accept(seal({ to: "ana", body }, user, { inReplyTo: null, hops: 0 }), [ana]);
    const { id } = deliveries[0]!;
    await mailbox.claim(id, { lane: "push", now: Date.now(), transport: "tmux" });
    await mailbox.settle(id, { kind: "delivered", proof: "submitted" }, { transport: "tmux", authority: "user" });
    return id;
  };
  return {
    ...{ mailbox, outages, said, send, ana },
    notices: () => mailbox.inbox(userId).map(({ message }) => message.body),
    async [Symbol.asyncDispose]() {
      await retries[Symbol.asyncDispose]();
      await mailbox[Symbol.asyncDispose]();
    },
  };
}

test(
  "while the program tries again, the receipt says why; the user gets one notice, and another after the model has " +
    "answered",
  async () => {
    await using subject = await delivered();
    const { mailbox, said, send, notices } = subject;
    const id = await send("first");
    said.why = "529 overloaded";
    await until(() => notices().length > 0, "the user gets a notice");
    expect(mailbox.delivery(id)!.notes).toEqual([
      { code: "retrying", text: "the model's API fails: 529 overloaded; codex tries again" },
    ]);
    expect(notices()[0]).toStartWith("web:ana cannot reach its model: 529 overloaded\nMSG_USER_");
    await send("second");
    said.why = null;
    await until(() => mailbox.delivery(id)!.notes.length === 0, "the note is gone");
    expect(notices()).toHaveLength(1);
    subject.outages.answered(subject.ana.id);
    said.why = "401";
    await until(() => notices().length > 1, "the user gets the next notice");
  },
);

test("what was read needs no look, and neither does an agent of which nothing could tell", async () => {
  await using subject = await delivered();
  const { mailbox, said, send } = subject;
  const id = await send("first");
  await mailbox.confirm(id, "transcript");
  said.why = undefined;
  const { looks } = said;
  await send("second");
  await until(() => said.looks > looks, "one look");
  await send("third");
  await until(() => said.looks > looks + 1, "one look at the next message");
  expect(said.looks).toBe(looks + 2);
});
