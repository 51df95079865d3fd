import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Client } from "../../client/client.ts";
import { connect } from "../../sdk/connect.ts";
import type { ConnectedAgent } from "../../sdk/agent.ts";
import { startTestDaemon, stateOf, type TestDaemon } from "../../testing/daemon.ts";

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon[Symbol.asyncDispose]());

/** An agent that asks and waits as the command does: what it is asked meanwhile comes back instead. */
async function asker(name: string) {
  const { client } = await daemon.agent(name);
  const wait = (tag: string, call: Client = client) =>
    call.call("awaitAnswer", { tag, timeoutMs: 20_000, questions: true });
  return {
    client,
    async ask(to: string, body: string) {
      const { tag } = await client.call("send", { to, body, expectsReply: true });
      return { tag, outcome: await wait(tag) };
    },
    wait,
    /** Answers what it was asked, and says that it has read it. */
    async reply(questions: Awaited<ReturnType<typeof wait>>["questions"], body: string) {
      await client.call("collected", { deliveries: questions.map(({ delivery }) => delivery!) });
      for (const { tag, expectsReply } of questions) if (expectsReply) await client.call("reply", { tag, body });
    },
  };
}

describe("agents that ask each other at once", () => {
  test("each is given the other's question through its own wait, and both are answered", async () => {
    const [ana, ben] = [await asker("ana"), await asker("ben")];
    const [first, second] = await Promise.all([ana.ask("ben", "which port?"), ben.ask("ana", "which host?")]);
    expect([first, second].map(({ outcome }) => outcome.questions.map(({ from, body }) => [from, body]))).toEqual([
      [["ben", "which host?"]],
      [["ana", "which port?"]],
    ]);
    await ana.reply(first.outcome.questions, "localhost");
    await ben.reply(second.outcome.questions, "8080");
    const answers = await Promise.all([ana.wait(first.tag), ben.wait(second.tag)]);
    expect(answers.map(({ answer }) => answer?.body)).toEqual(["8080", "localhost"]);
    for (const { tag } of [first, second]) expect(await stateOf(daemon.user, { tag })).toBe("answered");
  });

  test("in a chain of three the question comes through a wait, too", async () => {
    const [a, b, c] = [await asker("chain-a"), await asker("chain-b"), await asker("chain-c")];
    const { tag: first } = await a.client.call("send", { to: "chain-b", body: "1", expectsReply: true });
    const waitingA = a.wait(first);
    const { tag: second } = await b.client.call("send", { to: "chain-c", body: "2", expectsReply: true });
    // b waits for c, and has not read what a asked: that comes first.
    const heard = await b.wait(second);
    expect(heard.questions.map(({ from, body }) => [from, body])).toEqual([["chain-a", "1"]]);
    const { outcome } = await c.ask("chain-a", "3");
    expect(outcome.questions.map(({ from, body }) => [from, body])).toEqual([["chain-b", "2"]]);
    expect((await waitingA).questions.map(({ from, body }) => [from, body])).toEqual([["chain-c", "3"]]);
  });

  test("what the asker wrote before comes along, in order, and other mail waits", async () => {
    const [a, b, other] = [await asker("order-a"), await asker("order-b"), await daemon.agent("order-c")];
    await other.client.call("send", { to: "order-a", body: "no hurry" });
    await b.client.call("send", { to: "order-a", body: "first this" });
    const { tag } = await b.client.call("send", { to: "order-a", body: "now a question", expectsReply: true });
    const { outcome } = await a.ask("order-b", "mine");
    expect(outcome.questions.map(({ body }) => body)).toEqual(["first this", "now a question"]);
    expect(await stateOf(daemon.user, { tag })).toBe("claimed");
  });

  test("the user's question does not come that way: it waits to be read as the user's", async () => {
    const [a, b] = [await asker("user-a"), await asker("user-b")];
    const { tag } = await a.client.call("send", { to: "user-b", body: "mine", expectsReply: true });
    const waiting = a.wait(tag);
    const own = await daemon.user.call("send", { to: "user-a", body: "how far are you?", expectsReply: true });
    await b.client.call("reply", { tag, body: "yours" });
    expect(await waiting).toMatchObject({ answer: { body: "yours" }, questions: [] });
    expect(await stateOf(daemon.user, own)).toBe("queued");
  });
});

describe("replies to a question with several recipients", () => {
  test("another recipient sees neither a reply to others nor the state of other deliveries", async () => {
    const [bob, eve] = [await asker("reply-bob"), await asker("reply-eve")];
    const { tag } = await daemon.user.call("send", { to: "@all", body: "which password?" });
    const { tag: reply } = await bob.client.call("reply", { tag, body: "hunter2" });
    const wait = (client: Client, timeoutMs: number) => client.call("awaitAnswer", { tag, timeoutMs });
    const overheard = await wait(eve.client, 200);
    expect(overheard).toMatchObject({ answer: null, lost: null });
    expect(JSON.stringify(overheard)).not.toMatch(/hunter2|reply-bob/);
    expect((await wait(bob.client, 20_000)).answer).toMatchObject({ tag: reply, body: "hunter2" });
    expect((await wait(daemon.user, 20_000)).answer).toMatchObject({
      tag: reply,
      from: "reply-bob",
      body: "hunter2",
    });
  });

  test("a recipient waits past a reply that it may not read for its own", async () => {
    const [bob, eve] = [await asker("past-bob"), await asker("past-eve")];
    const { tag } = await daemon.user.call("send", { to: "@all", body: "done?" });
    await bob.client.call("reply", { tag, body: "bob is done" });
    await eve.client.call("reply", { tag, body: "eve is done" });
    expect((await eve.client.call("awaitAnswer", { tag, timeoutMs: 20_000 })).answer).toMatchObject({
      from: "past-eve",
      body: "eve is done",
    });
  });
});

describe("programs that use the SDK", () => {
  const program = async (name: string): Promise<ConnectedAgent> =>
    (await connect({ url: daemon.url, token: daemon.userToken })).registerAgent({ name });

  test("two that ask each other and read nothing else: one gets QUESTION_WAITING and has to answer first", async () => {
    const [x, y] = [await program("sdkx"), await program("sdky")];
    const asks = ([me, to]: readonly [ConnectedAgent, string]) =>
      me.ask(to, "yours?", { timeoutMs: 60_000 }).catch((refusal: unknown) => ({ refusal, me }));
    const both = (
      [
        [x, "sdky"],
        [y, "sdkx"],
      ] as const
    ).map(asks);
    const { refusal, me } = (await Promise.race(both)) as {
      refusal: { code: string; message: string; operands: { questions: string[] } };
      me: ConnectedAgent;
    };
    expect(refusal).toMatchObject({
      code: "QUESTION_WAITING",
      message: expect.stringMatching(/^sdk. waits for an answer to MSG_SDK._[0-9a-f]{8}, and reads nothing/),
    });
    await me.reply({ tag: refusal.operands.questions[0]! }, "mine is 7");
    expect(await both[me === x ? 1 : 0]).toMatchObject({ body: "mine is 7" });
  });

  test("onQuestion answers while the program waits", async () => {
    const [x, y] = [await program("both-x"), await program("both-y")];
    const onQuestion = ({ from, body }: { from: string; body: string }): string => `${from} asked ${body}`;
    const [mine, theirs] = await Promise.all([
      x.ask("both-y", "1", { onQuestion }),
      y.ask("both-x", "2", { onQuestion }),
    ]);
    expect([mine.body, theirs.body]).toEqual(["both-x asked 1", "both-y asked 2"]);
  });

  test("a program that reads its inbox meanwhile is not stopped", async () => {
    const [x, y] = [await program("reads-x"), await program("reads-y")];
    const stop = new AbortController();
    const reading = (async () => {
      for await (const letter of x.inbox({ signal: stop.signal }))
        if (letter.expectsReply) await letter.reply("read and answered");
    })();
    const asking = x.ask("reads-y", "1", { timeoutMs: 60_000 });
    expect(await y.ask("reads-x", "2", { timeoutMs: 60_000 })).toMatchObject({ body: "read and answered" });
    const [letter] = await y.client.call("collect", { waitMs: 20_000 });
    await y.reply(letter!, "done");
    await asking;
    stop.abort();
    await reading;
  });
});
