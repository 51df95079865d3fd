import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { OpenRequest } from "../src/api/schemas/requests.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

type Row = Record<string, unknown> & { readonly from: string; readonly text: string };

/** A Claude Code team with a member that asks the user for something. */
function crewIn(world: World, requests: readonly object[]) {
  const team = join(world.dir, ".claude", "teams", "crew");
  const row = (request: object, at: number) => ({
    from: "scout",
    text: JSON.stringify(request),
    timestamp: new Date(at).toISOString(),
    read: false,
  });
  mkdirSync(join(team, "inboxes"), { recursive: true });
  writeFileSync(
    join(team, "config.json"),
    JSON.stringify({ name: "crew", members: [{ agentId: "scout@crew", name: "scout", agentType: "explorer" }] }),
  );
  writeFileSync(join(team, "inboxes", "user.json"), JSON.stringify(requests.map(row)));
  return {
    answers: () =>
      (JSON.parse(readFileSync(join(team, "inboxes", "scout.json"), "utf8")) as Row[]).map(({ from, text }) => ({
        from,
        text: text.startsWith("{") ? (JSON.parse(text) as object) : text,
      })),
  };
}

const permission = {
  type: "permission_request",
  request_id: "perm-1",
  agent_id: "scout@crew",
  tool_name: "Bash",
  tool_use_id: "toolu_1",
  description: "remove the build",
  input: { command: "rm -rf build" },
  permission_suggestions: [],
};
const plan = {
  type: "plan_approval_request",
  from: "scout",
  timestamp: "2026-11-15T10:00:00.000Z",
  planFilePath: "/p.md",
  planContent: "1. look\n2. leap",
  requestId: "plan_approval-1@scout",
};

async function openRequests(world: World, count: number): Promise<OpenRequest[]> {
  let open: OpenRequest[] = [];
  await until(async () => (open = await world.json<OpenRequest[]>(["approve"])).length === count, `${count} requests`);
  return open;
}

test("a permission and a plan are shown, and answered once in the words of the protocol", async () => {
  await using world = await startWorld();
  const crew = crewIn(world, [permission, plan]);
  const [first, second] = await openRequests(world, 2);
  expect(first).toMatchObject({
    kind: "permission_request",
    id: "perm-1",
    from: "scout",
    text: 'Bash: remove the build\n{\n  "command": "rm -rf build"\n}',
  });
  expect(second).toMatchObject({
    kind: "plan_approval_request",
    id: "plan_approval-1@scout",
    text: "1. look\n2. leap",
  });
  const [shown] = await world.json<{ request: object; kind: string }[]>(["inbox", "--peek", "--pending"]);
  expect(shown).toMatchObject({ kind: "permission_request", request: { id: "perm-1", kind: "permission_request" } });
  expect((await world.tieline(["inbox"])).stdout).toContain(`tieline approve ${first!.tag}`);

  // Neither reading nor words in reply are an answer.
  await world.json(["reply", first!.tag, "why?"]);
  expect(await openRequests(world, 2)).toHaveLength(2);
  const answer = await world.json<{ tag: string }>(["approve", first!.tag]);
  expect(await world.json<{ tag: string }>(["approve", first!.tag])).toMatchObject({ tag: answer.tag });
  const changed = await world.tieline(["deny", first!.tag]);
  expect([changed.code, changed.stderr]).toEqual([3, expect.stringContaining("was already answered by user")]);
  await world.json(["deny", second!.tag, "look", "longer"]);
  expect(await openRequests(world, 0)).toEqual([]);
  const { stdout: read } = await world.tieline(["inbox"]);
  expect(read).toContain(
    `  Bash: remove the build\n  {\n    "command": "rm -rf build"\n  }\n  approved by ${answer.tag}\n`,
  );
  expect(read).toMatch(/ {2}1\. look\n {2}2\. leap\n {2}denied by MSG_USER_\w+\n/);
  expect((await world.tieline(["log"])).stdout).not.toContain('{"');
  expect((await world.tieline(["log"])).stdout).toMatch(/user → crew:scout .* denied: look longer/);

  await until(() => crew.answers().length === 3, "the responses");
  expect(crew.answers().slice(1)).toEqual([
    {
      from: "team-lead",
      text: {
        type: "permission_response",
        request_id: "perm-1",
        tool_use_id: "toolu_1",
        subtype: "success",
        response: { updated_input: { command: "rm -rf build" }, permission_updates: [] },
      },
    },
    {
      from: "team-lead",
      text: {
        type: "plan_approval_response",
        requestId: "plan_approval-1@scout",
        approved: false,
        feedback: "look longer",
        timestamp: expect.any(String),
      },
    },
  ]);
  expect((await world.status(answer.tag)).deliveries[0]).toMatchObject({ agent: "scout", transport: "claude-inbox" });
});

test("two answers at once are one answer; what the response has no room for follows as text", async () => {
  await using world = await startWorld();
  const crew = crewIn(world, [permission]);
  const [{ tag }] = (await openRequests(world, 1)) as [OpenRequest];
  const results = await Promise.all(
    ["approve", "deny", "approve", "deny"].map((verb) => world.tieline([verb, tag, "mind the cat"])),
  );
  expect(results.some(({ code }) => code === 0)).toBe(true);
  await until(() => crew.answers().length > 0, "the response");
  await world.killDaemon();
  await world.json(["approve"]);
  const protocol = crew.answers().filter(({ text }) => typeof text === "object");
  expect(protocol).toHaveLength(1);
});

test("an agent may not answer unless its profile says so, and text cannot be approved", async () => {
  await using world = await startWorld();
  world.file(
    "tieline.yaml",
    JSON.stringify({
      team: "web",
      agents: { boss: { command: ["cat"], may: ["answer"] }, peer: { command: ["cat"] } },
    }),
  );
  await world.trust();
  for (const name of ["boss", "peer"]) await world.json(["spawn", name]);
  const crew = crewIn(world, [permission]);
  const [{ tag }] = (await openRequests(world, 1)) as [OpenRequest];
  const refused = await world.tieline(["approve", tag], await within(world, "peer"));
  expect([refused.code, refused.stderr]).toEqual([
    3,
    expect.stringContaining("error NOT_PERMITTED: peer may not do this"),
  ]);
  expect((await world.tieline(["deny", tag, "no"], await within(world, "boss"))).code).toBe(0);
  await until(() => crew.answers().length === 1, "the response");
  expect(crew.answers()[0]).toMatchObject({ from: "team-lead", text: { subtype: "error", error: "no" } });
  expect(await openRequests(world, 0)).toEqual([]);

  const { tag: text } = await world.json<{ tag: string }>(["send", "boss", "hello"]);
  expect((await world.tieline(["approve", text])).stderr).toContain("is not a request; it is plain text");
});

/** What a command inside that agent's pane says about itself. */
async function within(world: World, name: string): Promise<{ env: Record<string, string> }> {
  const { pane } = (await world.ls()).find((one) => one.name === name)!;
  return { env: { TMUX: `${await world.tmux("display-message", "-p", "#{socket_path}")},1,0`, TMUX_PANE: pane! } };
}
