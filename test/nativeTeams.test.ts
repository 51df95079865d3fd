import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentView } from "../src/api/schema.ts";
import { scriptedAgentCommand } from "../src/testing/scriptedAgent.ts";
import type { OpenRequest } from "../src/api/schemas/requests.ts";
import { until } from "../src/testing/until.ts";
import { startWorld } from "../src/testing/world.ts";
import { type Fields, lead, scout, crewIn, namesIn, mail, agentIn, notes, textIn } from "./nativeCrew.ts";

test("a member of a Claude Code team is written to by name, and what it writes to the user arrives once", async () => {
  await using world = await startWorld();
  const crew = crewIn(world);
  const row = crew.post("user", "scout", "found it");

  await world.ls();
  await until(() => crew.config().members.some(({ name }) => name === "the-user"), "the user's record");
  const { tag } = await world.json<{ tag: string }>(["send", "--wait", "delivered", "scout", "look in the cellar"]);
  expect(crew.rows("scout")).toMatchObject([
    {
      from: "the-user",
      read: false,
      messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      summary: "look in the cellar",
      text: expect.stringContaining(
        `[${tag} from user]\nlook in the cellar\n[end ${tag} · reply: SendMessage to "the-user"]`,
      ),
    },
  ]);
  // A direct message never passes through the lead.
  expect(crew.rows("team-lead")).toEqual([]);
  expect((await world.status(tag)).deliveries[0]).toMatchObject({
    proof: "written",
    transport: "claude-inbox",
    authority: "peer",
  });

  await until(async () => (await mail(world)).length > 0, "the member's message");
  await world.killDaemon();
  expect((await mail(world)).map(({ from, body }) => [from, body])).toEqual([["scout", "found it"]]);
  await until(() => crew.rows("user")[0]!["read"] === true, "the mark");
  expect(crew.rows("user")).toEqual([{ ...row, read: true }]);

  const unknown = await world.tieline(["send", "scuot", "x"]);
  expect(unknown.code).toBe(3);
  expect(unknown.stderr).toContain("scout");

  crew.configure({ members: [lead] });
  const left = await world.tieline(["send", "crew:scout", "--wait", "delivered", "--timeout", "1s", "still there?"]);
  expect([left.code, left.stderr]).toEqual([4, expect.stringContaining("is not in its Claude Code team any more")]);
  expect(crew.rows("scout")).toHaveLength(1);
});

test("--wait seen is refused at once for a member, because nothing proves it, and nothing is written", async () => {
  await using world = await startWorld();
  const crew = crewIn(world);
  const { code, stderr } = await world.tieline(["send", "--wait", "seen", "scout", "look in the cellar"]);
  expect([code, stderr]).toEqual([4, expect.stringContaining("error PROOF_UNAVAILABLE")]);
  expect(crew.rows("scout")).toEqual([]);
  // Also once it was written to.
  await world.json(["send", "--wait", "delivered", "scout", "look in the cellar"]);
  expect((await world.tieline(["send", "--wait", "seen", "scout", "and?"])).stderr).toContain(
    "error PROOF_UNAVAILABLE",
  );
});

test("what a member writes to the user under the name that Claude Code reaches arrives, and is taken out", async () => {
  await using world = await startWorld();
  const crew = crewIn(world);
  await world.ls();
  await until(() => crew.config().members.length === 4, "the user's records");
  expect(crew.config().members.slice(2)).toMatchObject(
    ["user", "the-user"].map((name) => ({
      agentId: `${name}@crew`,
      name,
      agentType: "user",
      backendType: "tieline",
      isActive: false,
      tieline: { agent: "user" },
    })),
  );
  crew.post("the-user", "scout", "found it");
  await until(async () => (await mail(world)).length > 0, "the message");
  expect((await mail(world)).map(({ from, body }) => [from, body])).toEqual([["scout", "found it"]]);
  await until(() => crew.rows("the-user").length === 0, "an empty inbox");
});

test("members are listed in their team before the first message, and removed when they leave", async () => {
  await using world = await startWorld({ files: { "tieline.yaml": "team: web\n" } });
  const elsewhere = {
    members: [
      { ...lead, cwd: "/elsewhere" },
      { ...scout, cwd: "/elsewhere" },
    ],
  };
  const crew = crewIn(world, elsewhere);
  await until(async () => namesIn(await world.json(["ls", "--all"])).length === 2, "the members");
  expect(namesIn(await world.json(["ls", "--all"]))).toEqual(["crew:scout", "crew:team-lead"]);
  expect((await world.json<AgentView[]>(["ls", "--all"]))[1]).toMatchObject({
    presence: "active",
    state: "unknown",
    reason: "it has not reported to the Claude Code team crew yet",
    endpoints: [{ transport: "claude-inbox" }],
  });
  expect(await world.ls()).toEqual([]);
  // The lead works in the project's directory.
  crew.configure({
    members: [
      { ...lead, cwd: world.project },
      { ...scout, cwd: world.project },
    ],
  });
  expect(namesIn(await world.ls())).toEqual(["crew:scout", "crew:team-lead"]);
  expect((await world.tieline(["team", "show", "crew"])).stdout).toContain("scout");
  await world.json(["send", "scout", "--wait", "delivered", "hello"]);

  crew.configure({ members: [] });
  await until(async () => namesIn(await world.json(["ls", "--all"])).length === 1, "the end of the one without mail");
  expect(await agentIn(world, "scout")).toMatchObject({
    state: "gone",
    reason: "it is not in its Claude Code team any more",
  });
});

test("a member whose process has ended is not listed, and its mail waits until it runs again", async () => {
  await using world = await startWorld();
  const ended = {
    leadSessionId: crypto.randomUUID(),
    members: [
      { ...lead, backendType: "in-process" },
      { ...scout, backendType: "tmux", tmuxPaneId: "%9" },
      { agentId: "mate@crew", name: "mate", backendType: "in-process" },
    ],
  };
  const crew = crewIn(world, ended);
  await world.ls();
  await until(() => crew.config().members.length === 5, "the user's records");
  expect(await world.json(["ls", "--all"])).toEqual([]);
  const { tag } = await world.json<{ tag: string }>(["send", "scout", "are you there?"]);
  await until(
    async () =>
      (await world.status(tag)).deliveries[0]!.reason ===
      "scout is not running: no process of Claude Code runs it any more",
    "the reason",
  );
  expect(crew.rows("scout")).toEqual([]);

  const dir = join(world.dir, "worker");
  mkdirSync(dir);
  await world.pane([...scriptedAgentCommand(dir), "--agent-id", "scout@crew"]);
  await until(
    async () => (await world.status(tag)).deliveries[0]!.state === "delivered",
    "the mail after it came back",
  );
  expect(await agentIn(world, "scout")).toMatchObject({ state: "unknown", team: "crew" });
});

test("team-lead is the lead of the team who runs, and a new one only where none does", async () => {
  await using world = await startWorld({ files: { "tieline.yaml": "team: web\n" } });
  const crew = crewIn(world, { members: [{ ...lead, cwd: world.project }, scout] });
  await until(async () => (await agentIn(world, "team-lead")) !== undefined, "the lead");
  await world.json(["send", "team-lead", "--wait", "delivered", "how is it going?"]);
  expect(crew.rows("team-lead")).toHaveLength(1);
  expect((await world.tieline(["resolve", "team-lead", "--explain"])).stdout).toContain(
    "a member of a Claude Code team of web is called team-lead, and runs",
  );
  expect((await world.tieline(["resolve", "researcher", "--explain"])).stdout).toContain(
    "mail may start the built in profile researcher",
  );

  const folder = join(world.dir, ".claude", "teams", "second");
  mkdirSync(folder);
  writeFileSync(
    join(folder, "config.json"),
    JSON.stringify({ name: "second", leadAgentId: "team-lead@second", members: [{ ...lead, cwd: world.project }] }),
  );
  const both = await world.tieline(["send", "team-lead", "who?"]);
  expect([both.code, both.stderr]).toEqual([
    3,
    expect.stringContaining("team-lead could be crew:team-lead or second:team-lead"),
  ]);
  await world.json(["send", "second:team-lead", "--wait", "delivered", "you"]);
});

test("a member that runs in a pane is made one with the agent that is adopted there, and named by it", async () => {
  await using world = await startWorld({ files: { "tieline.yaml": "team: crew\n" } });
  crewIn(world, { members: [lead, { ...scout, backendType: "tmux" }] });
  const dir = join(world.dir, "worker");
  mkdirSync(dir);
  const pane = await world.pane([...scriptedAgentCommand(dir), "--agent-id", "scout@crew"]);
  await until(async () => (await agentIn(world, "scout")) !== undefined, "the member");
  const { id } = (await agentIn(world, "scout"))!;
  await world.json(["send", "scout", "--wait", "delivered", "before it was adopted"]);
  expect(await world.json(["adopt", "--all"])).toMatchObject({ found: [{ pane, name: "scout", agent: null }] });
  const adopted = await world.json<AgentView>(["adopt", pane, "--name", "scout", "--provider", "claude-code"]);
  expect(adopted).toMatchObject({ id, name: "scout", team: "crew", pane });
  expect(adopted.endpoints.map(({ transport }) => transport)).toContain("claude-inbox");
  expect(namesIn(await world.ls())).toEqual(["crew:scout", "crew:team-lead"]);
});

test("a bad row in a lead's inbox, a team of the same name and a restart hide no plan", async () => {
  await using world = await startWorld({
    files: { "tieline.yaml": "team: crew\nagents: { engineer: { command: [cat] } }\n" },
  });
  const crew = crewIn(world, { members: [lead, scout, { agentId: "mate@crew", name: "mate" }] });
  await world.tieline(["up"]);
  await world.json(["send", "scout", "--wait", "delivered", "hi"]);
  crew.post("team-lead", "scout", {
    type: "idle_notification",
    from: "scout",
    timestamp: new Date().toISOString(),
    idleReason: "available",
  });
  await until(async () => (await agentIn(world, "scout"))?.state === "idle", "its idle notice");
  await world.json(["stop", "scout"]);
  await until(() => crew.rows("scout").length === 2, "the request");
  const { requestId } = JSON.parse(crew.rows("scout")[1]!.text) as Fields;
  crew.post("team-lead", "scout", {
    type: "shutdown_approved",
    requestId,
    from: "scout",
    timestamp: new Date().toISOString(),
  });
  await until(async () => (await agentIn(world, "scout"))!.state === "gone", "its end");
  await world.tieline(["daemon", "stop"]);
  crew.post("team-lead", "mate", {
    type: "plan_approval_request",
    requestId: "plan-1",
    from: "mate",
    planContent: "1. dig",
    timestamp: new Date().toISOString(),
  });
  let open: OpenRequest[] = [];
  await until(async () => (open = await world.json<OpenRequest[]>(["approve"])).length === 1, "the plan");
  expect(open[0]).toMatchObject({ from: "mate", text: "1. dig" });
  expect((await world.tieline(["daemon", "logs"])).stdout).not.toContain("CONFLICT");
});

test("a member with the name of an agent of yours has the next name, and both are written to", async () => {
  await using world = await startWorld();
  const crew = crewIn(world);
  const noted = join(world.dir, "noted");
  world.file("tieline.yaml", JSON.stringify({ team: "crew", agents: { scout: { command: notes(noted) } } }));
  await world.trust();
  await until(async () => namesIn(await world.ls()).includes("crew:scout-2"), "the member");
  expect(namesIn(await world.ls())).toEqual(["crew:scout-2", "crew:team-lead"]);
  await world.json(["send", "scout", "--wait", "delivered", "for your agent"]);
  await world.json(["send", "scout-2", "--wait", "delivered", "for the member"]);
  expect(textIn(noted)).toContain("for your agent");
  expect(crew.rows("scout")).toMatchObject([{ text: expect.stringContaining("for the member") }]);
  crew.post("user", "scout", "from the member");
  await until(async () => (await mail(world)).length > 0, "its answer");
  expect(await mail(world)).toMatchObject([{ from: "scout-2", body: "from the member" }]);
});
