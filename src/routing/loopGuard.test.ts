import { describe, expect, test } from "bun:test";
import { loopGuard, type GuardLimits } from "./loopGuard.ts";
import { memoryStore } from "../mailbox/memory/store.ts";
import { openMailbox } from "../mailbox/mailbox.ts";
import { userId, type Agent } from "../model/agent.ts";
import { TielineError } from "../model/errors.ts";
import { seal, type Message, type Sender } from "../model/message.ts";
import { createRouter } from "./router.ts";
import { defaultHomeConfig } from "../config/home.ts";
import { anAgent, theUser } from "../testing/agents.ts";

const ana = anAgent({ name: "ana" });
const bob = anAgent({ name: "bob" });
const cy = anAgent({ name: "cy" });
const user = theUser();
const senderOf = ({ id, name, team }: Agent, knownBy: Sender["knownBy"] = "token"): Sender => ({
  id,
  name,
  team,
  knownBy,
});

/** A router over a mailbox in memory, in which every delivery counts as delivered at once. */
function router(limits: Partial<GuardLimits> = {}) {
  let now = 1_000_000;
  const mailbox = openMailbox(memoryStore(), { clock: () => now });
  const everyone = [ana, bob, cy, user];
  const guard = loopGuard(mailbox, { ...defaultHomeConfig().guards, ...limits }, () => now);
  const { send } = createRouter({
    mailbox,
    guard,
    emit: () => undefined,
    clock: () => now,
    resolve: (address, from) => ({
      agents: everyone.filter(({ id, name }) =>
        address === "@all" ? id !== from.id && id !== userId : name === address,
      ),
      missing: [],
    }),
    permit: (_, agents) => ({ recipients: agents, refused: [], allowed: [] }),
    enlist: (agent) => agent,
    mayStart: () => false,
  });
  return {
    mailbox,
    later: (ms: number) => void (now += ms),
    async write(from: Agent, to: string, inReplyTo: Message | null = null, knownBy?: Sender["knownBy"]) {
      const sent = await send(
        { to, body: "hello", ...(inReplyTo && { inReplyTo: inReplyTo.id }) },
        senderOf(from, knownBy ?? (from.id === userId ? "user" : "token")),
      );
      for (const { id } of sent.receipt.deliveries) {
        await mailbox.claim(id, { lane: "pull", now, transport: "pull" });
        await mailbox.settle(id, { kind: "delivered", proof: "tool" }, { transport: "pull", authority: "peer" });
      }
      return { ...sent, message: sent.receipt.message };
    },
  };
}

async function refusal(attempt: Promise<unknown>): Promise<string> {
  const thrown = await attempt.catch((error: unknown) => error);
  if (!(thrown instanceof TielineError)) throw new Error("it was not refused");
  return `${thrown.code}: ${thrown.message}`;
}

describe("hops", () => {
  test("a conversation without a user ends at the limit, however it is continued", async () => {
    const { write } = router();
    let last = (await write(ana, "bob")).message;
    expect(last.hops).toBe(1);
    for (let hop = 2; hop <= 8; hop++)
      last = (await write(hop % 2 === 0 ? bob : ana, hop % 2 === 0 ? "ana" : "bob", last)).message;
    expect(last.hops).toBe(8);
    expect(await refusal(write(ana, "bob", last))).toBe(
      "HOP_LIMIT: this conversation went back and forth 8 times without a user; the limit is 8",
    );
    expect(await refusal(write(ana, "bob"))).toStartWith("HOP_LIMIT");
    expect(await refusal(write(ana, "cy"))).toStartWith("HOP_LIMIT");
  });

  test("who is at the limit can still tell the user, whose word starts the count again", async () => {
    const { write } = router({ maxHops: 1 });
    await write(bob, "ana");
    expect(await refusal(write(ana, "bob"))).toStartWith("HOP_LIMIT");
    expect((await write(ana, "user")).receipt.deliveries).toHaveLength(1);
    await write(user, "ana");
    expect((await write(ana, "bob")).message.hops).toBe(1);
  });

  test("answering an old message, of the user or of anyone, does not begin the count again", async () => {
    const { write } = router({ maxHops: 4 });
    const task = (await write(user, "@all")).message;
    let last = (await write(ana, "bob", task)).message;
    for (let hop = 2; hop <= 4; hop++)
      last = (await write(hop % 2 === 0 ? bob : ana, hop % 2 === 0 ? "ana" : "bob", last)).message;
    expect(last.hops).toBe(4);
    expect(await refusal(write(ana, "bob", task))).toStartWith("HOP_LIMIT");
    expect((await write(ana, "user", task)).receipt.deliveries).toHaveLength(1);
    await write(user, "ana");
    expect((await write(ana, "bob", task)).message.hops).toBe(1);
  });

  test("an agent that answers every answer of an object comes to an end; one that asks again does not", async () => {
    const { write } = router({ maxHops: 4 });
    const object = (message: Message) => write(cy, "ana", message, "object");
    for (let round = 0; round < 6; round++)
      expect((await object((await write(ana, "cy")).message)).message.hops).toBe(0);
    let last = (await object((await write(ana, "cy")).message)).message;
    for (let round = 0; round < 2; round++) last = (await object((await write(ana, "cy", last)).message)).message;
    expect(await refusal(write(ana, "cy", last))).toStartWith("HOP_LIMIT");
  });

  test("the user and objects make no hops", async () => {
    const { write } = router({ maxHops: 1 });
    const first = (await write(bob, "ana")).message;
    expect((await write(user, "bob", first)).message.hops).toBe(0);
    expect((await write(cy, "bob", first, "object")).message.hops).toBe(0);
  });
});

describe("pace", () => {
  test("twenty messages a minute to one, then RATE_LIMITED until the minute is over", async () => {
    const { write, later } = router();
    for (let count = 0; count < 20; count++) await write(ana, "bob");
    expect(await refusal(write(ana, "bob"))).toBe(
      "RATE_LIMITED: ana sent 20 messages to bob within a minute, which is the limit",
    );
    await write(ana, "cy");
    later(60_001);
    await write(ana, "bob");
  });

  test("a broadcast is refused for the crowded recipient only", async () => {
    const { write } = router({ perPairPerMinute: 2 });
    await write(ana, "bob");
    await write(ana, "bob");
    const { receipt, refused } = await write(ana, "@all");
    expect(receipt.deliveries.map(({ agentName }) => agentName)).toEqual(["cy"]);
    expect(refused.map(({ agent, error }) => [agent, error.code])).toEqual([["bob", "RATE_LIMITED"]]);
  });

  test("120 messages a minute in all", async () => {
    const { write } = router({ perPairPerMinute: 1_000 });
    for (let count = 0; count < 120; count++) await write(ana, count % 2 === 0 ? "bob" : "cy");
    expect(await refusal(write(ana, "bob"))).toBe(
      "RATE_LIMITED: ana sent 120 messages within a minute, which is the limit",
    );
  });

  test("messages of every kind count, and the user may write as much as they like", async () => {
    const { mailbox, write } = router({ perPairPerMinute: 2 });
    await mailbox.accept(seal({ to: "bob", body: "ok", kind: "ack" }, senderOf(ana), { inReplyTo: null, hops: 1 }), [
      bob,
    ]);
    await write(ana, "bob");
    for (let count = 0; count < 30; count++) await write(user, "bob");
    expect(mailbox.inbox(bob.id, { limit: 100 })).toHaveLength(32);
    expect(await refusal(write(ana, "bob"))).toStartWith("RATE_LIMITED");
  });
});
