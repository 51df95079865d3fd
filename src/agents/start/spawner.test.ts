import { afterEach, describe, expect, test } from "bun:test";
import { memoryStore } from "../../mailbox/memory/store.ts";
import { openMailbox } from "../../mailbox/mailbox.ts";
import type { Mailbox } from "../../mailbox/port.ts";
import { userId, type Agent } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import type { AgentId } from "../../model/ids.ts";
import { seal, type Sender } from "../../model/message.ts";
import { anAgent, offline, paneEndpoint } from "../../testing/agents.ts";
import { until } from "../../testing/until.ts";
import { Spawner, type SpawnerParts } from "./spawner.ts";

const user: Sender = { id: userId, name: "user", team: "web", knownBy: "user" };
const cleanUps: Disposable[] = [];
afterEach(() => cleanUps.splice(0).forEach((one) => one[Symbol.dispose]()));

/** Offline agents, a mailbox, and programs that do at each start what the test says. */
function world(programs: Record<string, (agent: Agent) => void | Promise<void>>, options: Partial<SpawnerParts> = {}) {
  const mailbox = openMailbox(memoryStore());
  const agents = new Map<AgentId, Agent>();
  for (const name of Object.keys(programs)) {
    const agent = anAgent({ name, ...offline, launch: { profile: name } });
    agents.set(agent.id, agent);
  }
  const starts: string[] = [];
  const told: string[] = [];
  const set = (id: AgentId, change: Partial<Agent>): void =>
    void agents.set(id, { ...agents.get(id)!, ...change, stateAt: Date.now() });
  const spawner = new Spawner({
    mailbox,
    agent: (id) => agents.get(id) ?? null,
    mayStart: () => true,
    explain: (_, why) => void told.push(why),
    report: (context, fault) => {
      throw new Error(context, { cause: fault });
    },
    perMinute: 1_000,
    pausesMs: [1, 1, 1],
    async start(agent) {
      starts.push(agent.name);
      await programs[agent.name]!(agent);
    },
    ...options,
  });
  cleanUps.push(spawner);
  const up = (id: AgentId): void => set(id, { endpoints: [paneEndpoint("%1")], state: "idle" });
  const down = (id: AgentId): void => set(id, { ...offline });
  const send = (name: string, from = user, starting = true) => {
    const agent = [...agents.values()].find((one) => one.name === name)!;
    return mailbox.accept(seal({ to: name, body: "hello" }, from, { inReplyTo: null, hops: 0, starts: starting }), [
      agent,
    ]);
  };
  return { mailbox, spawner, starts, told, up, down, send };
}

const stateOf = (mailbox: Mailbox, tag: string): string => mailbox.receipt(tag)!.deliveries[0]!.state;
const broken = (): never => {
  throw new TielineError("SPAWN_FAILED", "no such program", { remedy: "install it" });
};

describe("mail starts agents", () => {
  test("one whose project is not trusted is not started again and again; its mail waits for the user", async () => {
    let trusted = false;
    const { mailbox, spawner, starts, told, up, send } = world({
      ana(agent) {
        if (!trusted)
          throw new TielineError("UNTRUSTED", "/p/tieline.yaml is not trusted yet", { remedy: "run tieline trust" });
        up(agent.id);
      },
    });
    spawner.start();
    const { message } = await send("ana");
    await until(() => told.length > 0, "the reason");
    await send("ana");
    expect([starts, told]).toEqual([["ana"], ["/p/tieline.yaml is not trusted yet; run tieline trust"]]);
    expect(stateOf(mailbox, message.tag)).toBe("queued");
    trusted = true;
    spawner.trustChanged();
    await until(() => starts.length === 2, "the start");
  });

  test("a storm of messages is one start for each agent", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `agent${index}`);
    const { spawner, starts, up, send } = world(
      Object.fromEntries(
        names.map((name) => [
          name,
          async ({ id }: Agent) => {
            await Promise.resolve();
            up(id);
          },
        ]),
      ),
    );
    spawner.start();
    await Promise.all(Array.from({ length: 200 }, (_, index) => send(names[index % names.length]!)));
    await until(() => starts.length >= 20, "twenty starts");
    await send("agent0");
    expect(starts.toSorted()).toEqual(names.toSorted());
  });

  test("mail that waited before the switch began starts its agent too", async () => {
    const { spawner, starts, up, send } = world({ ana: ({ id }) => up(id) });
    await send("ana");
    spawner.start();
    expect(starts).toEqual(["ana"]);
  });

  test("mail that may not start an agent does not, but later mail may", async () => {
    const eve: Sender = { ...user, id: "eve" as AgentId, name: "eve" };
    const { spawner, starts, up, send } = world(
      { ana: ({ id }) => up(id) },
      { mayStart: (from) => from.id === userId },
    );
    spawner.start();
    await send("ana", user, false);
    await send("ana", eve);
    expect(starts).toEqual([]);
    await send("ana");
    expect(starts).toEqual(["ana"]);
  });

  test("no more than the limit in a minute; the others wait, with the reason", async () => {
    let now = 0;
    const { spawner, starts, told, up, send } = world(
      { ana: ({ id }) => up(id), bob: ({ id }) => up(id) },
      { perMinute: 1, clock: () => now },
    );
    spawner.start();
    await send("ana");
    now = 59_999;
    await send("bob");
    expect(starts).toEqual(["ana"]);
    expect(told).toEqual(["1 agents were started within a minute, which is the limit; the next start is in 1 s"]);
    now = 60_000;
    await until(() => starts.length === 2, "the second start");
    expect(starts).toEqual(["ana", "bob"]);
  });
});

describe("a program that will not run", () => {
  test("is started again after growing pauses, then its mail goes back to the sender", async () => {
    const { mailbox, spawner, starts, told, send } = world({ ana: broken });
    spawner.start();
    const { message } = await send("ana");
    await until(() => stateOf(mailbox, message.tag) === "failed", "the message to fail");
    expect(starts).toHaveLength(4);
    expect(told[0]).toBe("no such program; the next start is in 1 s");
    const [bounce] = mailbox.inbox(userId);
    expect(bounce!.message).toMatchObject({ kind: "bounce", inReplyTo: message.id });
    expect(bounce!.message.body).toStartWith(
      `${message.tag} to ana was not delivered: SPAWN_FAILED: it failed to start 4 times in a row; no such program`,
    );
  });

  test("more mail during a pause does not shorten it", async () => {
    const { spawner, starts, send } = world({ ana: broken }, { pausesMs: [100_000] });
    spawner.start();
    for (let count = 0; count < 20; count++) await send("ana");
    expect(starts).toHaveLength(1);
  });

  test("one that ends as soon as it is ready counts as failed", async () => {
    const { mailbox, spawner, starts, told, up, down, send } = world({
      ana: ({ id }) => {
        up(id);
        down(id);
      },
    });
    spawner.start();
    const { message } = await send("ana");
    await until(() => stateOf(mailbox, message.tag) === "failed", "the message to fail");
    expect(starts).toHaveLength(4);
    expect(told[0]).toStartWith("ana exited soon after its start; the next start is in");
  });

  test("a program that takes a message and exits is started again for the next, after a pause", async () => {
    const { mailbox, spawner, starts, told, up, down, send } = world({
      ana: async ({ id }) => {
        up(id);
        const { delivery } = mailbox.inbox(id, { pending: true })[0]!;
        void Promise.resolve().then(async () => {
          await mailbox.claim(delivery.id, { lane: "push", now: 0, transport: "tmux" });
          down(id);
          await mailbox.settle(
            delivery.id,
            { kind: "delivered", proof: "screen" },
            { transport: "tmux", authority: "user" },
          );
          const next = mailbox.inbox(id, { pending: true })[0]?.delivery;
          if (next) await mailbox.hold(next.id, { reason: "offline", detail: `ended ${next.id}` });
        });
      },
    });
    spawner.start();
    const sent = await Promise.all(Array.from({ length: 8 }, () => send("ana")));
    await until(
      () => sent.every(({ message }) => stateOf(mailbox, message.tag) === "delivered"),
      "every message to be delivered",
    );
    expect(starts).toHaveLength(8);
    expect(told).toHaveLength(7);
  });
});
