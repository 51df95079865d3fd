import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { batch, freshHas, freshTexts, say, type ModelRequest, type Step } from "../../fixtures/model-servers/server.ts";
import type { AgentView, InboxView } from "../../src/client/schema.ts";
import type { OpenRequest } from "../../src/client/schemas/requests.ts";
import { prepareBench, type Bench } from "./bench.ts";
import { installAgent } from "./install.ts";
import { Switchboard } from "./switchboard.ts";
import { until } from "./until.ts";

const deadlineMs = 300_000;
const installed = await installAgent("claude-code");
const missing = "missing" in installed ? installed.missing : undefined;
if (missing) console.error(`SKIPPED: claude-code ${installed.version} cannot be installed here: ${missing}`);
const claudeTest = (name: string, body: () => Promise<void>) => test.skipIf(!!missing)(name, body, deadlineMs);

/** What a model would do that was asked to end. */
function sensibly(request: ModelRequest): Step {
  const told = freshTexts(request, "user").join("\n");
  const shutdown = /shutdown-[0-9]+@bob/.exec(told)?.[0];
  if (shutdown !== undefined) return batch({ name: "SendMessage", input: { to: "team-lead", message: { type: "shutdown_response", request_id: shutdown, approve: true } } });
  return say(`ok ${request.index}`);
}

/** `bob`, a native teammate in the team `default`, which has no lead that lives. */
async function withTeammate(board: Switchboard): Promise<Bench> {
  const args = ["--agent-id", "bob@default", "--agent-name", "bob", "--team-name", "default", "--agent-color", "blue", "--parent-session-id", crypto.randomUUID()];
  const { bench, command, launch } = await prepareBench("claude-code", { args, script: sensibly, env: { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: "1" } });
  try {
    const team = join(bench.place.home, ".claude", "teams", "default");
    mkdirSync(join(team, "inboxes"), { recursive: true });
    const member = (name: string, fields: object) => ({ agentId: `${name}@default`, name, joinedAt: Date.now(), cwd: bench.place.project, subscriptions: [], ...fields });
    const members = [member("team-lead", { agentType: "team-lead", tmuxPaneId: "leader", backendType: "in-process" }), member("bob", { agentType: "general-purpose", color: "blue", tmuxPaneId: "%0", backendType: "tmux" })];
    writeFileSync(join(team, "config.json"), JSON.stringify({ name: "default", createdAt: Date.now(), leadAgentId: "team-lead@default", leadSessionId: crypto.randomUUID(), members }));
    await bench.open([...command, ...bench.recipe.args(bench.place, launch)], 120, 40);
    await bench.waitForScreen((screen) => bench.recipe.ready(screen));
    await board.serve(bench);
    return bench;
  } catch (thrown) {
    await bench[Symbol.asyncDispose]();
    throw thrown;
  }
}

const rowsOf = (bench: Bench, member: string): unknown[] => {
  const file = join(bench.place.home, ".claude", "teams", "default", "inboxes", `${member}.json`);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as unknown[]) : [];
};
const named = async (board: Switchboard, name: string): Promise<AgentView | undefined> => (await board.json<AgentView[]>("ls", "--all")).find((one) => one.name === name);

claudeTest("a native teammate: our message reaches its model, its SendMessage reaches an agent of ours, both once", async () => {
  await using board = await Switchboard.start();
  await using bench = await withTeammate(board);
  await board.another("carol");
  await until(() => readFileSync(join(bench.place.home, ".claude/teams/default/config.json"), "utf8").includes('"carol"'), { what: async () => "carol is a member" });

  bench.model.add({ ...batch({ name: "SendMessage", input: { to: "carol", message: "the tests are green", summary: "green" } }), when: (one) => freshHas(one, "tell carol") });
  const tag = await board.send("bob", "tell carol\nhow the tests are");
  const request = await bench.model.next((one) => freshHas(one, tag));
  expect(freshTexts(request, "user").join("\n")).toContain(`<teammate-message teammate_id="user" summary="tell carol">\n[${tag} from user]\ntell carol\nhow the tests are\n[end ${tag} · reply: tieline reply ${tag}]\n</teammate-message>`);
  expect((await board.status(tag)).deliveries[0]).toMatchObject({ state: "handed", proof: "written", transport: "claude-inbox", authority: "peer" });

  const mail = () => board.json<InboxView[]>("inbox", "carol");
  await until(async () => (await mail()).length > 0, { what: async () => `carol has mail; bob shows ${(await bench.capture()).text}` });
  expect((await mail()).map(({ from, body }) => [from, body])).toEqual([["bob", "the tests are green"]]);
  await until(() => rowsOf(bench, "carol").length === 0, { what: async () => "carol's inbox is empty" });
  await until(async () => (await named(board, "bob"))?.state === "idle", { what: async () => "bob told that he is idle" });
  expect(await mail()).toHaveLength(1);
});

claudeTest("a native teammate: the person grants and denies its permissions, and it ends when it agrees to", async () => {
  await using board = await Switchboard.start();
  await using bench = await withTeammate(board);
  const touch = (file: string, when: string): Step => ({ ...batch({ name: "Bash", input: { command: `touch ${file}`, description: `make ${file}` } }), when: (one) => freshHas(one, when) });
  // The program itself may find its team's file half written, by itself, and then asks its model to try again.
  bench.model.add(touch("granted", "please make granted"), touch("denied", "please make denied"), touch("denied", "Retry the tool call"));
  const asked = async (file: string): Promise<OpenRequest> => {
    await board.send("bob", `please make ${file}`);
    let open: OpenRequest[] = [];
    await until(async () => (open = await board.json<OpenRequest[]>("approve")).length === 1, { what: async () => `bob asks; he shows ${(await bench.capture()).text}` });
    return open[0]!;
  };

  const first = await asked("granted");
  expect(first).toMatchObject({ kind: "permission_request", from: "bob", text: expect.stringContaining("touch granted") });
  await board.run("approve", first.tag);
  await until(() => existsSync(join(bench.place.project, "granted")), { what: async () => `the tool ran; bob shows ${(await bench.capture()).text}` });

  const second = await asked("denied");
  await board.run("deny", second.tag, "not that one");
  await bench.model.next((one) => freshTexts(one, "tool").some((text) => text.includes("not that one")));
  expect(existsSync(join(bench.place.project, "denied"))).toBe(false);

  await board.run("stop", "bob");
  await bench.waitForScreen((screen) => screen.dead);
  await until(async () => (await named(board, "bob"))!.presence === "terminated", { what: async () => `bob has ended: ${JSON.stringify(rowsOf(bench, "team-lead"))}` });
});
