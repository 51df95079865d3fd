/** Events from end to end: a daemon, real mail, a real NATS server, and watchers that come late. */
import { describe, expect, test } from "bun:test";
import { createServer, type AddressInfo } from "node:net";
import type { Client } from "../src/client/client.ts";
import type { Output } from "../src/api/schema.ts";
import { streamEvents, type StreamedEvent } from "../src/client/stream.ts";
import { startTestDaemon, type TestDaemon } from "../src/testing/daemon.ts";
import { askHook } from "../src/testing/hookCalls.ts";
import { keeping } from "../src/testing/keeping.ts";
import { lackOfNats, NatsServer } from "../src/testing/natsServer.ts";
import { describeUnless } from "../src/testing/needing.ts";
import { until } from "../src/testing/until.ts";
import { startWorld } from "../src/testing/world.ts";

const patienceMs = 60_000;
const keep = keeping();

const daemonWith = async (nats: object): Promise<TestDaemon> => keep(await startTestDaemon({ config: { nats } }));

/** Sends to an agent and lets it read, so that each message goes all its way. */
async function flow(
  { user }: TestDaemon,
  reader: Client,
  count: number,
  at: (sent: number) => Promise<void> | void = () => undefined,
): Promise<string[]> {
  const tags: string[] = [];
  for (let sent = 0; sent < count; sent++) {
    await at(sent);
    tags.push((await user.call("send", { to: "ana", body: `message ${sent}` })).tag);
    if (sent % 100 === 99) await readAll(reader);
  }
  return tags;
}

async function readAll(reader: Client): Promise<void> {
  const mail = await reader.call("collect", { limit: 1_000 });
  await reader.call("collected", { deliveries: mail.map(({ delivery }) => delivery!) });
}

/** Everything in the log, read as a watcher does who comes when all is over. */
async function everything({ url, userToken, user }: TestDaemon): Promise<StreamedEvent[]> {
  const { last } = await user.call("events", { limit: 0 });
  const events: StreamedEvent[] = [];
  for await (const event of streamEvents({ url, token: userToken }, {}, { after: 0 })) {
    events.push(event);
    if (event.seq >= last) return events;
  }
  return events;
}

function expectAllTold(events: readonly StreamedEvent[], tags: readonly string[]): void {
  expect(new Set(events.map(({ seq }) => seq)).size).toBe(events.length);
  for (const type of [
    "message.accepted",
    "route.routed",
    "delivery.queued",
    "delivery.claimed",
    "delivery.seen",
  ] as const) {
    const told = events.filter((event) => event.type === type && !("verb" in event && event.verb === "hold"));
    expect(told.map((event): string => ("tag" in event ? event.tag : ""))).toEqual([...tags]);
  }
}

describe("a watcher", () => {
  test(
    "that comes late, and one that was there all the time, see every event once and in order",
    async () => {
      const daemon = await daemonWith({ enabled: false });
      const { client } = await daemon.agent("ana");
      const early: StreamedEvent[] = [];
      const stop = new AbortController();
      const watching = (async () => {
        for await (const event of streamEvents(
          { socket: daemon.home.socket },
          { userToken: daemon.userToken },
          { after: 0 },
          stop.signal,
        ))
          early.push(event);
      })();
      const tags = await flow(daemon, client, 1_000);
      const late = await everything(daemon);
      await until(() => early.length === late.length, "the early watcher to have seen all");
      stop.abort();
      await watching;
      expectAllTold(late, tags);
      expect(early).toEqual(late);
    },
    patienceMs,
  );

  test("sees a refused message with whom the sender may write to", async () => {
    const daemon = await daemonWith({ enabled: false });
    const { client } = await daemon.agent("ana");
    await daemon.agent("bob");
    await daemon.user.call("topologyAdd", { edge: "bob -> ana", close: true });
    await expect(client.call("send", { to: "bob", body: "may I?" })).rejects.toMatchObject({ code: "ROUTE_DENIED" });
    const { events } = await daemon.user.call("events", { types: ["route.denied"] });
    expect(events).toMatchObject([{ type: "route.denied", from: "ana", to: "bob", allowed: ["user"] }]);
  });
});

describe("tieline events --follow", () => {
  test(
    "continues through a stop and a kill of the daemon, each event once",
    async () => {
      const world = keep(await startWorld({ config: { nats: { enabled: false } } }));
      const launcher = new URL("../bin/tieline", import.meta.url).pathname;
      const pane = await world.pane(["cat"]);
      await world.json(["adopt", pane, "--name", "ana", "--provider", "generic"]);
      const following = Bun.spawn([launcher, "events", "--follow", "--json"], {
        cwd: world.project,
        env: world.env,
        stdout: "pipe",
      });
      const lines = following.stdout.pipeThrough(new TextDecoderStream());
      let text = "";
      const reading = (async () => {
        for await (const chunk of lines) text += chunk;
      })();
      const events = (): StreamedEvent[] =>
        text
          .split("\n")
          .slice(0, -1)
          .map((line) => JSON.parse(line) as StreamedEvent);
      const told = (tag: string) =>
        until(
          () => events().some((event) => event.type === "message.accepted" && event.tag === tag),
          `${tag} to be told`,
        );
      for (const end of [() => world.tieline(["daemon", "stop"]), () => world.killDaemon(), async () => undefined]) {
        const { tag } = await world.json<{ tag: string }>(["send", "ana", "hello"]);
        await told(tag);
        await end();
      }
      following.kill("SIGINT");
      expect(await following.exited).toBe(0);
      await reading;
      const numbers = events().map(({ seq }) => seq);
      expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
      expect(events().filter(({ type }) => type === "message.accepted")).toHaveLength(3);
    },
    patienceMs,
  );
});

describe("what is known of all agents", () => {
  test("activity, presence and metrics follow the events", async () => {
    const daemon = await daemonWith({ enabled: false });
    const { client } = await daemon.agent("ana");
    await daemon.user.call("send", { to: "ana", body: "one" });
    const activity = async () => (await daemon.user.call("activity", {})).find(({ name }) => name === "ana")!;
    expect(await activity()).toMatchObject({
      presence: "active",
      status: "idle",
      lastEvent: { type: "delivery.queued" },
    });
    await readAll(client);
    const { eventCount, lastEvent } = await activity();
    expect(lastEvent).toMatchObject({ type: "delivery.seen" });
    expect(eventCount).toBe(
      (await daemon.user.call("events", { agent: "ana" })).events.filter((event) => "agent" in event).length,
    );
    const [listed] = await daemon.user.call("ls", {});
    expect(listed!.activity).toMatchObject({ eventCount, lastEvent: { type: "delivery.seen" } });

    const metrics = async (headers: Record<string, string>) => fetch(`${daemon.url}/metrics`, { headers });
    expect((await metrics({})).status).toBe(401);
    const text = await (await metrics({ authorization: `Bearer ${daemon.userToken}` })).text();
    expect(text).toContain('tieline_edge_messages_total{team="default",from="user",to="ana"} 1\n');
    expect(text).toContain('tieline_deliveries_total{state="seen",transport="pull"} 1\n');
    expect(text).toContain('tieline_delivery_seconds_count{stage="seen"} 1\n');
    const local = await fetch("http://tieline/metrics", {
      unix: daemon.home.socket,
      headers: { authorization: `Bearer ${daemon.userToken}` },
    } as RequestInit);
    expect(local.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
  });

  test("the export has every message once, oldest first, with its transitions", async () => {
    const daemon = await daemonWith({ enabled: false });
    const { client } = await daemon.agent("ana");
    const tags = await flow(daemon, client, 25);
    await readAll(client);
    const told: Output<"export">["messages"] = [];
    for (
      let page = await daemon.user.call("export", { limit: 10 });
      ;
      page = await daemon.user.call("export", { limit: 10, after: page.last })
    ) {
      told.push(...page.messages);
      if (!page.more) break;
    }
    expect(told.map(({ tag }) => tag).toSorted()).toEqual(tags.toSorted());
    const ways = told.map(({ transitions }) =>
      transitions
        .filter(({ verb }) => verb !== "hold")
        .map(({ to }) => to)
        .join(),
    );
    expect(new Set(ways)).toEqual(new Set(["queued,claimed,seen"]));
    expect((await daemon.user.call("export", { since: Date.now() + 1_000 })).messages).toEqual([]);
  });
});

describeUnless(lackOfNats)("NATS", () => {
  test(
    "hears each thing once, under its subject and the prefix of the settings",
    async () => {
      const server = keep(await NatsServer.start());
      const listener = keep(await server.listen("genie.>"));
      const daemon = await daemonWith({ url: server.url, prefix: "genie" });
      const { client, token } = await daemon.agent("ana");
      const { tag } = await daemon.user.call("send", { to: "ana", body: "hello" });
      await readAll(client);
      const hook = (payload: object): Promise<unknown> => askHook(daemon.home, token, { session_id: "s1", ...payload });
      await hook({ hook_event_name: "UserPromptSubmit", prompt: "do it" });
      await hook({ hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "ls" }, tool_use_id: "t" });
      await hook({
        hook_event_name: "PostToolUse",
        tool_name: "SendMessage",
        tool_input: { to: "bob", message: "past the mailbox" },
        tool_use_id: "t",
      });
      await hook({ hook_event_name: "Stop", last_assistant_message: "done" });
      const heard = await listener.until((all) => all.some(({ subject }) => subject.startsWith("genie.agent.")));
      const bySubject = Object.fromEntries(heard.map(({ subject, payload }) => [subject, payload]));
      expect(heard.filter(({ payload }) => payload["verb"] !== "hold").map(({ subject }) => subject)).toEqual([
        "genie.msg.ana",
        "genie.delivery.ana.queued",
        "genie.route.default.routed",
        "genie.delivery.ana.claimed",
        "genie.delivery.ana.seen",
        "genie.user.ana.prompt",
        "genie.tool.ana.call",
        "genie.msg.bob",
        "genie.agent.ana.response",
      ]);
      expect(bySubject["genie.msg.ana"]).toMatchObject({ from: "user", to: "ana", content: "hello", tag });
      expect(bySubject["genie.route.default.routed"]).toMatchObject({ recipients: ["ana"], allowed: ["*"] });
      expect(bySubject["genie.tool.ana.call"]).toMatchObject({
        agent: "ana",
        team: "default",
        toolName: "Bash",
        input: { command: "ls" },
      });
      expect(bySubject["genie.user.ana.prompt"]).toMatchObject({ agent: "ana", text: "do it" });
      expect(bySubject["genie.msg.bob"]).toMatchObject({ from: "ana", to: "bob", content: "past the mailbox" });
      expect(bySubject["genie.agent.ana.response"]).toMatchObject({ agent: "ana", text: "done" });
    },
    patienceMs,
  );

  test.each(["TIELINE_NATS_URL", "GENIE_NATS_URL"])(
    "is used when %s names it",
    async (variable) => {
      const server = keep(await NatsServer.start());
      const listener = keep(await server.listen("tieline.>"));
      const world = keep(await startWorld());
      await world.tieline(["daemon", "start"], { env: { [variable]: server.url } });
      await world.json(["adopt", await world.pane(["cat"]), "--name", "ana", "--provider", "generic"]);
      await world.json(["send", "ana", "hello"]);
      await listener.until((heard) => heard.some(({ subject }) => subject === "tieline.msg.ana"));
    },
    patienceMs,
  );

  test(
    "that stops, and comes back while 1,000 messages flow, loses none of them, and what it did not hear is counted",
    async () => {
      const server = keep(await NatsServer.start());
      const listener = keep(await server.listen("tieline.msg.>"));
      const daemon = await daemonWith({ url: server.url });
      const { client } = await daemon.agent("ana");
      const tags = await flow(daemon, client, 1_000, (sent) =>
        sent === 300 ? server.stop() : sent === 600 ? server.start() : undefined,
      );
      expectAllTold(await everything(daemon), tags);
      const { tag } = await daemon.user.call("send", { to: "ana", body: "the last" });
      await listener.until((heard) => heard.at(-1)!.payload["tag"] === tag);
      const names = listener.heard.map(({ payload }) => payload["tag"]);
      expect(new Set(names).size).toBe(names.length);
      expect(names.slice(0, 200)).toEqual(tags.slice(0, 200));
      const published = (await everything(daemon)).filter(({ type }) => !type.startsWith("agent."));
      const counts = async (): Promise<number> => {
        const { detail } = (await daemon.user.call("doctor", {})).find(({ name }) => name === "nats")!;
        const [, heard, dropped] = /(\d+) events published, (\d+) dropped$/.exec(detail)!;
        return Number(heard) + Number(dropped);
      };
      await until(
        async () => (await counts()) === published.length,
        "every event to be published or counted as dropped",
      );
    },
    patienceMs,
  );

  test.each([
    ["absent", async () => "nats://127.0.0.1:1"],
    ["a black hole", async () => `nats://127.0.0.1:${await blackHole()}`],
  ])(
    "%s, while 1,000 messages flow, loses none of them; doctor tells what was dropped",
    async (_, place) => {
      const daemon = await daemonWith({ url: await place() });
      const { client } = await daemon.agent("ana");
      const tags = await flow(daemon, client, 1_000);
      expectAllTold(await everything(daemon), tags);
      const nats = async () => (await daemon.user.call("doctor", {})).find(({ name }) => name === "nats")!;
      await until(async () => (await nats()).status === "warning", "the connection to have failed");
      expect((await nats()).detail).toMatch(/0 events published, [1-9]\d* dropped(, \d+ wait for the server)?$/);
    },
    patienceMs,
  );
});

async function blackHole(): Promise<number> {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  keep({
    async [Symbol.asyncDispose]() {
      server.close();
    },
  });
  return (server.address() as AddressInfo).port;
}
