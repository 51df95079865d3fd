import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentView, InboxView } from "../src/api/schema.ts";
import { logOf, scriptedAgentCommand } from "../src/testing/scriptedAgent.ts";
import type { OpenRequest } from "../src/api/schemas/requests.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

type Fields = Record<string, unknown>;
interface Row extends Fields {
  readonly from: string;
  readonly text: string;
}

const lead = { agentId: "team-lead@crew", name: "team-lead", agentType: "team-lead", tmuxPaneId: "leader" };
const scout = { agentId: "scout@crew", name: "scout", agentType: "explorer" };

/** The team `crew` of Claude Code, whose members are files. */
function crewIn(world: World, config: Fields = {}) {
  const folder = join(world.dir, ".claude", "teams", "crew");
  const path = (member: string): string => join(folder, "inboxes", `${member}.json`);
  mkdirSync(join(folder, "inboxes"), { recursive: true });
  const write = (file: string, content: unknown): void => {
    writeFileSync(`${file}.draft`, JSON.stringify(content));
    renameSync(`${file}.draft`, file);
  };
  write(join(folder, "config.json"), {
    name: "crew",
    leadAgentId: "team-lead@crew",
    members: [lead, scout],
    ...config,
  });
  return {
    config: () => JSON.parse(readFileSync(join(folder, "config.json"), "utf8")) as Fields & { members: Fields[] },
    configure: (more: Fields) =>
      write(join(folder, "config.json"), {
        ...(JSON.parse(readFileSync(join(folder, "config.json"), "utf8")) as Fields),
        ...more,
      }),
    rows: (member: string): Row[] =>
      existsSync(path(member)) ? (JSON.parse(readFileSync(path(member), "utf8")) as Row[]) : [],
    /** Writes as another member would. */
    post(member: string, from: string, text: string | object) {
      const row = {
        from,
        text: typeof text === "string" ? text : JSON.stringify(text),
        timestamp: new Date().toISOString(),
        read: false,
      };
      write(path(member), [...this.rows(member), row]);
      return row;
    },
  };
}

/** The members but for the user, who is in every team. */
const others = (crew: ReturnType<typeof crewIn>): Fields[] =>
  crew.config().members.filter(({ agentType }) => agentType !== "user");
const namesIn = (agents: readonly AgentView[]): string[] =>
  agents.map(({ team, name }) => `${team}:${name}`).toSorted();

const mail = (world: World): Promise<InboxView[]> => world.json<InboxView[]>(["inbox", "--peek"]);
const agentIn = async (world: World, name: string): Promise<AgentView | undefined> =>
  (await world.json<AgentView[]>(["ls", "--all"])).find((one) => one.name === name);
/** Writes down every line that it reads. */
const notes = (file: string): readonly string[] => [
  "sh",
  "-c",
  `while read -r line; do printf '%s\\n' "$line" >> ${file}; done`,
];
const textIn = (file: string): string => (existsSync(file) ? readFileSync(file, "utf8") : "");

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
