import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentView } from "../src/api/schema.ts";
import { logOf, scriptedAgentCommand } from "../src/testing/scriptedAgent.ts";
import type { OpenRequest } from "../src/api/schemas/requests.ts";
import { until } from "../src/testing/until.ts";
import { startWorld } from "../src/testing/world.ts";
import { type Fields, lead, scout, crewIn, others, mail, agentIn, notes, textIn } from "./nativeCrew.ts";

test("agents join the native team of their name, get mail of its members, and leave it", async () => {
  await using world = await startWorld();
  const crew = crewIn(world, { hiddenPaneIds: ["%9"], members: [{ ...lead, color: "red" }, scout] });
  const noted = join(world.dir, "noted");
  world.file(
    "tieline.yaml",
    JSON.stringify({
      team: "crew",
      agents: { engineer: { command: notes(noted), role: "builder" }, other: { command: ["cat"] } },
    }),
  );
  await world.trust();
  await world.json(["spawn", "engineer"]);
  await until(() => others(crew).length === 3, "the record");
  const { pane } = (await agentIn(world, "engineer"))!;
  expect(crew.config()).toMatchObject({ name: "crew", leadAgentId: "team-lead@crew", hiddenPaneIds: ["%9"] });
  expect(crew.config().members.slice(0, 2)).toEqual([{ ...lead, color: "red" }, scout]);
  const record = {
    agentId: "engineer@crew",
    name: "engineer",
    agentType: "builder",
    joinedAt: expect.any(Number),
    tmuxPaneId: pane,
    cwd: world.project,
    backendType: "tieline",
    color: expect.any(String),
    planModeRequired: false,
    isActive: expect.any(Boolean),
  };
  expect(others(crew)[2]).toMatchObject(record);

  crew.post("engineer", "scout", "the door is open");
  await until(() => textIn(noted).includes("the door is open"), "the member's words");
  await until(() => crew.rows("engineer").length === 0, "an empty inbox");
  expect(textIn(noted).match(/the door is open/g)).toHaveLength(1);
  // Its own record does not make it a stranger's inbox.
  await world.json(["send", "engineer", "--wait", "delivered", "hello"]);
  expect(crew.rows("engineer")).toEqual([]);

  crew.configure({
    members: crew
      .config()
      .members.map((one) => (one["name"] === "engineer" ? { ...one, note: "by another program" } : one)),
  });
  await world.json(["spawn", "other"]);
  await until(() => others(crew).length === 4, "the second record");
  expect(others(crew)[2]).toMatchObject({ ...record, note: "by another program" });
  await world.json(["kill", "engineer"]);
  await until(() => others(crew).length === 3, "the end of the record");
  expect(others(crew).map(({ name }) => name)).toEqual(["team-lead", "scout", "other"]);
});

test("with the setting off no agent is registered, and records are removed", async () => {
  await using world = await startWorld();
  const crew = crewIn(world);
  world.file("tieline.yaml", JSON.stringify({ team: "crew", agents: { engineer: { command: ["cat"] } } }));
  await world.trust();
  await world.json(["spawn", "engineer"]);
  await until(() => others(crew).length === 3, "the record");
  await world.tieline(["daemon", "stop"]);
  writeFileSync(join(world.dir, "home", "config.json"), JSON.stringify({ claudeTeams: { register: false } }));
  await world.ls();
  await until(() => crew.config().members.length === 2, "the end of the record");
});

test("a refused member gets the reason, and a stranger's message reaches the user", async () => {
  await using world = await startWorld();
  const crew = crewIn(world);
  world.file(
    "tieline.yaml",
    JSON.stringify({ team: "crew", agents: { engineer: { command: ["cat"] } }, topology: ["engineer -> user"] }),
  );
  await world.trust();
  await world.json(["spawn", "engineer"]);
  await until(() => others(crew).length === 3, "the record");
  crew.post("engineer", "scout", "psst");
  await until(() => crew.rows("scout").length === 1, "the refusal");
  expect(crew.rows("scout")[0]).toMatchObject({
    from: "tieline",
    text: expect.stringContaining("your message to engineer was not sent"),
  });
  crew.configure({ members: [...crew.config().members, { name: "no.body" }] });
  crew.post("user", "no.body", "who am I");
  await until(
    async () =>
      (await mail(world)).some(({ body }) =>
        body.includes('"no.body", which is in no team, wrote to user in the Claude Code team crew:\nwho am I'),
      ),
    "the stranger's words",
  );
});

test("stop asks a member to shut down; it has ended only when it agreed", async () => {
  await using world = await startWorld();
  const crew = crewIn(world);
  crew.post("team-lead", "scout", {
    type: "idle_notification",
    from: "scout",
    timestamp: new Date().toISOString(),
    idleReason: "available",
  });
  await until(async () => (await agentIn(world, "scout"))?.state === "idle", "presence by its idle notice");

  expect(await world.json<AgentView>(["stop", "scout"])).toMatchObject({
    state: "idle",
    reason: expect.stringContaining("asked to shut down"),
  });
  await until(() => crew.rows("scout").length === 1, "the request");
  const asked = crew.rows("scout")[0]!;
  const { requestId, ...request } = JSON.parse(asked.text) as Fields;
  expect([asked.from, request]).toEqual([
    "team-lead",
    { type: "shutdown_request", from: "team-lead", reason: "user asks you to end", timestamp: expect.any(String) },
  ]);

  crew.post("team-lead", "scout", {
    type: "shutdown_rejected",
    requestId,
    from: "scout",
    reason: "not done yet",
    timestamp: new Date().toISOString(),
  });
  await until(
    async () => (await agentIn(world, "scout"))!.reason === "it will not shut down: not done yet",
    "its refusal",
  );
  expect(await agentIn(world, "scout")).toMatchObject({ state: "idle" });
  expect((await agentIn(world, "scout"))!.presence).not.toBe("terminated");

  await world.json(["stop", "scout"]);
  await until(() => crew.rows("scout").length === 2, "the second request");
  crew.post("team-lead", "scout", {
    type: "shutdown_approved",
    requestId: (JSON.parse(crew.rows("scout")[1]!.text) as Fields)["requestId"],
    from: "scout",
    timestamp: new Date().toISOString(),
  });
  await until(async () => (await agentIn(world, "scout"))!.presence === "terminated", "its end");
  expect(await agentIn(world, "scout")).toMatchObject({ state: "gone", reason: "it agreed to shut down" });
  expect((await mail(world)).map(({ kind }) => kind)).toEqual(["shutdown_response", "shutdown_response"]);
  expect(crew.rows("team-lead")).toHaveLength(3);

  crew.configure({ members: [lead, { ...scout, joinedAt: Date.now() + 1_000 }] });
  await until(async () => (await agentIn(world, "scout"))!.presence !== "terminated", "its return");
  await world.json(["send", "crew:scout", "--wait", "delivered", "welcome back"]);
});

test("a lead's wish to end an agent of ours is the user's to grant", async () => {
  await using world = await startWorld();
  const crew = crewIn(world);
  world.file(
    "tieline.yaml",
    JSON.stringify({ team: "crew", agents: { engineer: { command: ["cat"] }, tester: { command: ["cat"] } } }),
  );
  await world.trust();
  for (const name of ["engineer", "tester"]) await world.json(["spawn", name]);
  await until(() => others(crew).length === 4, "the records");
  for (const name of ["engineer", "tester"])
    crew.post(name, "team-lead", {
      type: "shutdown_request",
      requestId: `shutdown-1@${name}`,
      from: "team-lead",
      reason: "all done",
      timestamp: new Date().toISOString(),
    });
  let open: OpenRequest[] = [];
  await until(async () => (open = await world.json<OpenRequest[]>(["approve"])).length === 2, "the requests");
  const tagOf = (name: string): string => open.find(({ id }) => id === `shutdown-1@${name}`)!.tag;
  expect(open.map(({ text }) => text).toSorted()).toEqual([
    "shut down engineer: all done",
    "shut down tester: all done",
  ]);

  await world.json(["deny", tagOf("tester"), "it is needed"]);
  await world.json(["approve", tagOf("engineer")]);
  await until(() => crew.rows("team-lead").length === 2, "the answers");
  expect(crew.rows("team-lead").map(({ from, text }) => ({ from, ...(JSON.parse(text) as Fields) }))).toMatchObject([
    { from: "tester", type: "shutdown_rejected", requestId: "shutdown-1@tester", reason: "it is needed" },
    { from: "engineer", type: "shutdown_approved", requestId: "shutdown-1@engineer" },
  ]);
  expect(await agentIn(world, "engineer")).toMatchObject({ presence: "terminated" });
  expect((await agentIn(world, "tester"))!.presence).not.toBe("terminated");
});

test(
  "both: a member in a pane of ours gets a message in its inbox and its pane, and one thing only in the " +
    "default policy",
  async () => {
    for (const policy of ["one", "both"]) {
      await using world = await startWorld({ config: { delivery: { policy } } });
      const crew = crewIn(world);
      const dir = join(world.dir, "worker");
      mkdirSync(dir);
      world.file(
        "tieline.yaml",
        JSON.stringify({
          team: "web",
          agents: {
            worker: { provider: "claude-code", command: [...scriptedAgentCommand(dir), "--agent-id", "scout@crew"] },
          },
        }),
      );
      await world.trust();
      await world.json(["spawn", "worker"]);
      await until(
        async () => (await agentIn(world, "worker"))!.endpoints.some(({ transport }) => transport === "claude-inbox"),
        "its inbox as an endpoint",
      );
      const { tag } = await world.json<{ tag: string }>(["send", "worker", "--wait", "delivered", "look twice"]);
      const typed = (): unknown[] =>
        logOf(dir).filter((entry) => "submitted" in entry && JSON.stringify(entry).includes(tag));
      await until(() => typed().length === 1, "the pane");
      expect(crew.rows("scout").filter(({ text }) => text.includes(tag))).toHaveLength(policy === "both" ? 1 : 0);
      expect((await world.status(tag)).deliveries[0]).toMatchObject({ transport: policy === "both" ? "both" : "tmux" });
      // It is a member by birth, and so not one that we register.
      expect(others(crew)).toHaveLength(2);
    }
  },
);

test("the older layout: a message is a file in the member's folder", async () => {
  await using world = await startWorld({ config: { claudeTeams: { layout: "drop" } } });
  crewIn(world);
  const { tag, id } = await world.json<{ tag: string; id: string }>([
    "send",
    "scout",
    "--wait",
    "delivered",
    "in a file",
  ]);
  const folder = join(world.dir, ".claude", "teams", "crew", "inbox", "scout");
  const [name] = readdirSync(folder);
  expect(name).toMatch(/^msg-[0-9]+-.*\.json$/);
  expect(JSON.parse(readFileSync(join(folder, name!), "utf8"))).toMatchObject({
    messageId: id,
    read: false,
    text: expect.stringContaining(tag),
  });
  mkdirSync(join(folder, "..", "user"));
  writeFileSync(
    join(folder, "..", "user", "msg-1.json"),
    JSON.stringify({ from: "scout", text: "an answer", timestamp: new Date().toISOString(), read: false }),
  );
  await until(async () => (await mail(world)).some(({ body }) => body === "an answer"), "the answer");
});
