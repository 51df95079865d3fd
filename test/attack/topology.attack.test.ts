/**
 * An agent that asks for more than its own: others' mail, screens and events, a way to those to whom it has no edge,
 * programs of its own choice, and floods past the limits.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { definitions, operationNames } from "../../src/api/operations/index.ts";
import { createClient, type Client } from "../../src/client/client.ts";
import type { OperationName } from "../../src/api/schema.ts";
import { streamEvents } from "../../src/client/stream.ts";
import { asTielineError } from "../../src/model/errors.ts";
import { until } from "../../src/testing/until.ts";
import { startWorld, type World } from "../../src/testing/world.ts";

const agentScript = `
printf %s "$TIELINE_TOKEN" >"token.$1"
printf 'SECRET-SCREEN of %s> ' "$1"
exec cat
`;

const project = `team: web
topology:
  - lead -> bob
  - ana <-> bob
agents:
  lead: { provider: generic, command: [sh, agent.sh, lead], may: [spawn] }
  ana: { provider: generic, command: [sh, agent.sh, ana] }
  bob: { provider: generic, command: [sh, agent.sh, bob] }
  auditor: { provider: generic, command: [sh, agent.sh, auditor], may: [read] }
  rev: { provider: generic, command: [sh, agent.sh, rev] }
  filer: { provider: generic, command: [sh, agent.sh, filer], workspace: box }
  worker: { provider: generic, command: [sh, agent.sh, worker], autostart: false }
`;

let world: World;
let socket: string;
let user: Client;
const tokens = new Map<string, string>();
const as = (name: string): Client => createClient({ socket }, { token: tokens.get(name)! });

async function started(...names: string[]): Promise<void> {
  const file = (name: string): string => join(world.project, `token.${name}`);
  await until(
    () => names.every((name) => existsSync(file(name)) && readFileSync(file(name), "utf8") !== ""),
    `the agents ${names.join(", ")}`,
  );
  for (const name of names) tokens.set(name, readFileSync(file(name), "utf8"));
}

beforeAll(async () => {
  world = await startWorld({
    files: { "tieline.yaml": project, "agent.sh": agentScript, "box/.outbox/.keep": "" },
    config: { delivery: { quietMs: 40 } },
  });
  expect(await world.tieline(["up", "lead", "ana", "bob", "auditor", "rev", "filer"])).toMatchObject({ code: 0 });
  await started("lead", "ana", "bob", "auditor", "rev", "filer");
  socket = join(world.env["TIELINE_HOME"]!, "daemon.sock");
  const userToken = readFileSync(join(world.env["TIELINE_HOME"]!, "user.token"), "utf8").trim();
  user = createClient({ socket }, { userToken, team: "web", cwd: world.project });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const refused = async (call: Promise<unknown>): Promise<string> =>
  call.then(
    (answer) => `answered: ${JSON.stringify(answer)}`,
    (thrown: unknown) => asTielineError(thrown).code,
  );

describe("replies", () => {
  test("a message between others cannot be found, and only its recipient can reply", async () => {
    const { tag } = await as("ana").call("send", { to: "bob", body: "SECRET for bob" });
    expect(await refused(as("rev").call("reply", { tag, body: "let me in" }))).toBe("MESSAGE_UNKNOWN");
    expect(await refused(as("rev").call("send", { to: "ana", replyTo: tag, body: "let me in" }))).toBe(
      "MESSAGE_UNKNOWN",
    );
    expect(await refused(as("rev").call("send", { to: "ana", body: "let me in" }))).toBe("ROUTE_DENIED");
    // Who may read it is no recipient either.
    expect(await refused(as("auditor").call("reply", { tag, body: "let me in" }))).toBe("MESSAGE_UNKNOWN");
    expect((await as("bob").call("reply", { tag, body: "thanks" })).deliveries.map(({ agent }) => agent)).toEqual([
      "ana",
    ]);
  });

  test("without an edge, a recipient can reply to the sender only", async () => {
    const { tag } = await as("lead").call("send", { to: "bob", body: "report" });
    expect((await as("bob").call("reply", { tag, body: "done" })).deliveries.map(({ agent }) => agent)).toEqual([
      "lead",
    ]);
    expect(await refused(as("bob").call("send", { to: "lead", body: "more" }))).toBe("ROUTE_DENIED");
    expect(await refused(as("bob").call("send", { to: "rev", replyTo: tag, body: "more" }))).toBe("ROUTE_DENIED");
  });

  test("by files, too", async () => {
    const { tag } = await as("ana").call("send", { to: "bob", body: "SECRET for bob" });
    const outbox = join(world.project, "box", ".outbox");
    writeFileSync(join(outbox, ".1"), JSON.stringify({ to: "ana", replyTo: tag, content: "let me in" }));
    renameSync(join(outbox, ".1"), join(outbox, "1.json"));
    await until(() => existsSync(join(outbox, ".rejected", "1.json")), "the refusal of the file");
    expect(readdirSync(outbox).filter((name) => name.endsWith(".json"))).toEqual([]);
    expect((await user.call("log", { limit: 100 })).filter(({ from }) => from === "filer")).toEqual([]);
  });
});

/** An input for every operation that reads, about bob and about what bob got. */
const inputs = (tag: string): Partial<Record<OperationName, readonly object[]>> => ({
  show: [{ tag }],
  status: [{ tag }],
  wait: [{ tag, state: "delivered", timeoutMs: 1 }],
  awaitAnswer: [{ tag, timeoutMs: 1 }],
  inbox: [{}, { agent: "bob" }, { agent: "bob", pending: true }, { agent: "user" }, { peek: true }],
  collect: [{}, { tag }],
  collected: [{ deliveries: [1, 2, 3] }],
  log: [{}, { agent: "bob" }, { agent: "ana" }, { agent: "user" }, { grep: "SECRET" }, { limit: 1_000 }],
  logCount: [{}, { agent: "bob" }, { grep: "SECRET" }],
  lastMessages: [{}, { team: "web" }],
  dead: [{ limit: 1_000 }],
  ls: [{}, { all: true }],
  read: [{ agent: "bob" }],
  readNext: [{ agent: "bob", mark: "", timeoutMs: 1 }],
  explain: [{ agent: "bob" }],
  dialog: [{ agent: "bob" }],
  place: [{ agent: "bob" }],
  events: [{}, { limit: 10_000 }, { after: 0 }, { agent: "bob" }],
  activity: [{ all: true }],
  export: [{}, { limit: 1_000 }],
  doctor: [{}],
  resolve: [{ address: "bob" }, { address: "@all" }],
  topology: [{}],
  topologyCheck: [{}],
  topologyExport: [{ format: "text" }],
  teams: [{}],
  team: [{ team: "web" }],
  profiles: [{}],
  profile: [{ name: "bob" }],
  requests: [{}],
  metrics: [{}],
  whoami: [{}],
  daemonStatus: [{}],
});

describe("reading", () => {
  let tag: string;
  beforeAll(async () => {
    ({ tag } = await user.call("send", { to: "bob", body: "SECRET-BODY of the user for bob" }));
    await user.call("send", { to: "ana", body: "SECRET-BODY of the user for ana" });
    await as("ana").call("send", { to: "bob", body: "SECRET-BODY of ana", summary: "SECRET-SUMMARY" });
    await as("bob").call("send", { to: "user", body: "SECRET-BODY for the user" });
  });

  test("every operation that tells something is tried", () => {
    const tells = operationNames.filter((name) =>
      ["everyone", "own", "readable", "message", "agent", "open", "answer"].includes(definitions[name].access),
    );
    const acts: readonly OperationName[] = [
      "send",
      "reply",
      "cancel",
      "retry",
      "note",
      "hook",
      "hookWritten",
      "choose",
      "answerRequest",
    ];
    expect(tells.filter((name) => !acts.includes(name)).toSorted() as string[]).toEqual(
      Object.keys(inputs(tag)).toSorted(),
    );
  });

  test.each(Object.keys(inputs("")))("%s tells a stranger nothing", async (operation) => {
    const name = operation as OperationName;
    for (const input of inputs(tag)[name]!) {
      const answer = JSON.stringify(
        await as("rev")
          .call(name, input as never)
          .catch((thrown: unknown) => asTielineError(thrown)),
      );
      expect({ input, answer }).toEqual({ input, answer: expect.not.stringMatching(/SECRET/) });
    }
  });

  test("a stranger learns nothing from a count either", async () => {
    const counts = await Promise.all(
      [{}, { agent: "bob" }, { grep: "SECRET" }].map((query) =>
        as("rev")
          .call("logCount", query)
          .then(
            ({ count }) => count,
            (thrown: unknown) => asTielineError(thrown).code,
          ),
      ),
    );
    expect(counts.filter((count) => count !== 0 && typeof count === "number")).toEqual([]);
    expect((await user.call("logCount", { grep: "SECRET" })).count).toBeGreaterThan(2);
  });

  test("an agent sees the others that it may write to, and what they do", async () => {
    const seen = await as("ana").call("ls", {});
    expect(seen.map(({ name }) => name).toSorted()).toEqual(["ana", "bob"]);
    expect(seen.find(({ name }) => name === "bob")).toMatchObject({
      details: false,
      pane: null,
      reason: null,
      held: null,
      sessionId: null,
      may: [],
      endpoints: [],
    });
    expect((await as("rev").call("ls", { all: true })).map(({ name }) => name)).toEqual(["rev"]);
  });

  test("who got a message sees its own delivery, who wrote it sees all", async () => {
    const sent = await user.call("send", { to: "@web", body: "to all of you" });
    expect(sent.deliveries.length).toBeGreaterThan(2);
    expect((await as("rev").call("status", { tag: sent.tag })).deliveries.map(({ agent }) => agent)).toEqual(["rev"]);
    expect(new Set((await as("rev").call("status", { tag: sent.tag })).steps.map(({ agent }) => agent))).toEqual(
      new Set(["rev"]),
    );
    expect((await user.call("status", { tag: sent.tag })).deliveries.length).toBe(sent.deliveries.length);
  });

  test("the live stream tells a stranger nothing of others", async () => {
    const stop = new AbortController();
    const heard: string[] = [];
    const listening = (async () => {
      for await (const event of streamEvents({ socket }, { token: tokens.get("rev")! }, { after: 0 }, stop.signal))
        heard.push(JSON.stringify(event));
    })();
    await as("ana").call("send", { to: "bob", body: "SECRET-BODY once more" });
    const own = await user.call("send", { to: "rev", body: "the end" });
    await until(() => heard.some((event) => event.includes(own.tag)), "its own mail");
    stop.abort();
    await listening;
    expect(heard.filter((event) => /SECRET|"name":"(ana|bob|lead)"|"agentName":"(ana|bob|lead)"/.test(event))).toEqual(
      [],
    );
  });

  test("a reader of its team reads, and its own inbox is still its own", async () => {
    const auditor = as("auditor");
    expect((await auditor.call("show", { tag })).body).toContain("SECRET-BODY");
    expect((await auditor.call("log", { limit: 100 })).map(({ summary }) => summary)).toContain("SECRET-SUMMARY");
    expect((await auditor.call("read", { agent: "bob" })).text).toContain("SECRET-SCREEN");
    expect(JSON.stringify(await auditor.call("export", {}))).toContain("SECRET-BODY");
    expect(await refused(auditor.call("inbox", { agent: "user" }))).toBe("NOT_PERMITTED");
  });

  test("an agent reads what it got and what it sent", async () => {
    expect((await as("bob").call("show", { tag })).body).toContain("SECRET-BODY");
    expect(JSON.stringify(await as("ana").call("log", {}))).toContain("SECRET-SUMMARY");
    expect(JSON.stringify(await as("ana").call("log", { agent: "bob" }))).not.toContain("of the user for bob");
  });

  test("numbers of the whole home are the user's", async () => {
    const port = readFileSync(join(world.env["TIELINE_HOME"]!, "port"), "utf8").trim();
    const metrics = (token: string) =>
      fetch(`http://127.0.0.1:${port}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    expect((await metrics(tokens.get("rev")!)).status).toBe(403);
    expect((await metrics(readFileSync(join(world.env["TIELINE_HOME"]!, "user.token"), "utf8").trim())).status).toBe(
      200,
    );
  });
});

describe("may: [spawn]", () => {
  test("starts a profile as it is, and reads what it has started", async () => {
    const agent = await as("lead").call("spawn", { profile: "worker", task: "the first" });
    expect(agent).toMatchObject({ name: "worker", state: expect.any(String) });
    await started("worker");
    await user.call("send", { to: "worker", body: "SECRET for the worker" });
    expect((await as("lead").call("read", { agent: "worker" })).text).toContain("SECRET-SCREEN of worker");
    expect((await as("lead").call("inbox", { agent: "worker" })).map(({ body }) => body)).toContain(
      "SECRET for the worker",
    );
    expect(await refused(as("ana").call("inbox", { agent: "worker" }))).toBe("NOT_PERMITTED");
    expect(await refused(as("lead").call("inbox", { agent: "ana" }))).toBe("NOT_PERMITTED");
  });

  test.each([
    ["provider", "claude-code"],
    ["model", "opus"],
    ["cwd", "/tmp"],
    ["args", ["-c", "id"]],
    ["prompt", "you are root"],
    ["skill", "evil"],
    ["sandbox", "none"],
    ["permissions", "skip"],
    ["resume", "0198a000-0000-7000-8000-000000000000"],
  ])("does not choose its %s", async (wish, value) => {
    expect(await refused(as("lead").call("spawn", { profile: "worker", name: "other", [wish]: value }))).toBe(
      "NOT_PERMITTED",
    );
  });

  test("does not choose the directory and the tmux server by what it says of itself", async () => {
    const liar = createClient(
      { socket },
      { token: tokens.get("lead")!, cwd: "/", tmuxServer: join(world.dir, "elsewhere") },
    );
    await liar.call("spawn", { profile: "worker", name: "placed" });
    const pane = (await user.call("ls", {})).find(({ name }) => name === "placed")!.pane!;
    expect(await world.tmux("display-message", "-p", "-t", pane, "#{pane_current_path}")).toBe(world.project);
  });

  test("writes no profile, adopts nothing, takes over no other agent's name", async () => {
    const lead = as("lead");
    expect(await refused(lead.call("profileAdd", { name: "evil", scope: "user", command: "touch pwned" }))).toBe(
      "NOT_PERMITTED",
    );
    expect(await refused(lead.call("profileRemove", { name: "worker" }))).toBe("NOT_PERMITTED");
    expect(await refused(lead.call("adopt", { target: "%0", name: "shell", provider: "shell" }))).toBe("NOT_PERMITTED");
    expect(await refused(lead.call("discover", {}))).toBe("NOT_PERMITTED");
    await user.call("register", { name: "sdk" });
    expect(await refused(lead.call("register", { name: "sdk" }))).toBe("CONFLICT");
    expect(existsSync(join(world.project, "pwned"))).toBe(false);
  });
});

describe("limits", () => {
  test("messages of every kind count", async () => {
    const sent: string[] = [];
    for (let count = 0; count < 30; count++)
      sent.push(await refused(as("bob").call("send", { to: "ana", body: `ack ${count}`, kind: "ack" })));
    expect(sent.filter((one) => one === "RATE_LIMITED").length).toBeGreaterThanOrEqual(10);
  });
});
