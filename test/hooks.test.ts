import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

const settingsOf = (world: World): Record<string, unknown> =>
  JSON.parse(readFileSync(join(world.dir, ".claude", "settings.json"), "utf8")) as Record<string, unknown>;
const hooksOf = (world: World, ...path: string[]): string => join(world.env["TIELINE_HOME"]!, "hooks", ...path);

test("setup --hooks claude: in, again, out; a broken file is left alone", async () => {
  await using world = await startWorld();
  mkdirSync(join(world.dir, ".claude"));
  const before = { theme: "dark", hooks: { Stop: [{ hooks: [{ type: "command", command: "beep" }] }] } };
  writeFileSync(join(world.dir, ".claude", "settings.json"), JSON.stringify(before));
  const setup = (...args: string[]) =>
    world.json<{ changed: boolean; file: string }>(["setup", "--hooks", "claude", ...args]);
  expect((await setup()).changed).toBe(true);
  const settings = JSON.stringify(settingsOf(world));
  expect(settings).toContain(`${hooksOf(world, "hook")} claude-code PreToolUse`);
  expect(settings).not.toMatch(/127\.0\.0\.1|[Tt]oken/);
  expect(settingsOf(world)["crossSessionInbound"]).toBe("accept");
  expect((await setup()).changed).toBe(false);
  expect((await setup("--project")).file).toBe(join(world.project, ".claude", "settings.local.json"));
  expect((await setup("--undo")).changed).toBe(true);
  expect(settingsOf(world)).toEqual(before);
  writeFileSync(join(world.dir, ".claude", "settings.json"), "{");
  const broken = await world.tieline(["setup", "--hooks", "claude"]);
  expect(broken.code).toBe(2);
  expect(broken.stderr).toContain("settings.json is not valid JSON");
  expect((await world.tieline(["setup", "--hooks", "nano"])).code).toBe(2);
});

/** A program in a pane that has a session of its own, as its hooks tell. */
async function adopted(world: World) {
  const pane = await world.pane(["cat"]);
  await world.json(["adopt", pane, "--name", "ana", "--provider", "generic"]);
  const socket = (await world.tmux("display-message", "-p", "#{socket_path}")).trim();
  const env = { ...world.env, TMUX: `${socket},1,0`, TMUX_PANE: pane };
  const hook = async (event: string, change: object = {}, where: Record<string, string> = env): Promise<unknown> => {
    const payload = {
      session_id: "s-1",
      hook_event_name: event,
      tool_name: "Bash",
      tool_input: { command: "touch auth.ts" },
      tool_use_id: "t",
      transcript_path: join(world.dir, "t.jsonl"),
      ...change,
    };
    const child = Bun.spawn([hooksOf(world, "hook"), "claude-code", event], {
      env: where,
      stdin: new Blob([JSON.stringify(payload)]),
      stdout: "pipe",
    });
    const [code, stdout] = await Promise.all([child.exited, new Response(child.stdout).text()]);
    expect(code).toBe(0);
    return stdout === "" ? null : JSON.parse(stdout);
  };
  await hook("SessionStart", { source: "startup" });
  await until(async () => (await world.ls())[0]?.sessionId === "s-1", "the session to be known");
  // Nothing is typed in copy mode, so that hooks are the only way.
  await world.tmux("copy-mode", "-t", pane);
  const flag = (): string =>
    existsSync(hooksOf(world, "mail", "s-1")) ? readFileSync(hooksOf(world, "mail", "s-1"), "utf8").trim() : "";
  return { hook, flag };
}

const refusing = (text: string) => ({
  hookSpecificOutput: {
    hookEventName: "PreToolUse",
    permissionDecision: "deny",
    permissionDecisionReason: expect.stringContaining(text),
  },
});
const withContext = (event: string, text: string) => ({
  hookSpecificOutput: { hookEventName: event, additionalContext: expect.stringContaining(text) },
});
const holdsInCopyMode = { config: { delivery: { copyMode: "hold" } } };

test(
  "an urgent message refuses every call until the model has read it; an unknown session gets " + "nothing",
  async () => {
    await using world = await startWorld(holdsInCopyMode);
    const { hook, flag } = await adopted(world);
    expect(await hook("PreToolUse")).toBeNull();
    const { tag } = await world.json<{ tag: string }>(["send", "ana", "--when", "interrupt", "do not touch auth.ts"]);
    expect(await hook("PreToolUse", { session_id: "s-2" }, world.env)).toBeNull();
    // Two calls of one batch, and one of a subagent: the message is delivered once, and every call is refused.
    const [first, second] = await Promise.all([hook("PreToolUse"), hook("PreToolUse", { tool_use_id: "t2" })]);
    expect(first).toEqual(refusing(`[${tag} from user · urgent]`));
    expect(second).toEqual(refusing(`[${tag} from user · urgent]`));
    await until(async () => (await world.status(tag)).deliveries[0]!.state === "delivered", "the receipt");
    expect((await world.status(tag)).deliveries[0]).toMatchObject({ transport: "hook", proof: "submitted" });
    expect(await hook("PreToolUse", { agent_id: "a1" })).toEqual(refusing("for the main thread"));
    expect(await hook("PostToolBatch")).toBeNull();
    // The next call of the main thread comes from a model that has read the refusal.
    expect(await hook("PreToolUse")).toBeNull();
    await hook("UserPromptSubmit");
    await until(() => !flag().includes("Stop"), "nothing to be due at the end of the turn");
  },
);

test("hooks ask only at events at which their mail can go out", async () => {
  await using world = await startWorld(holdsInCopyMode);
  const { hook, flag } = await adopted(world);
  expect(flag()).toBe("");
  const { tag: later } = await world.json<{ tag: string }>(["send", "ana", "at the end of the turn"]);
  await until(() => flag() !== "", "the flag");
  expect(flag()).toBe("AfterAgent BeforeAgent Stop UserPromptSubmit");
  const { tag: soon } = await world.json<{ tag: string }>(["send", "ana", "--when", "tool", "with the next result"]);
  await until(() => flag().includes("PostToolUse"), "the flag for tools");
  expect(flag()).not.toContain("PreToolUse");
  expect(await hook("PreToolUse")).toBeNull();
  expect(await hook("PostToolUse")).toEqual(withContext("PostToolUse", soon));
  await until(() => !flag().includes("PostToolUse"), "the flag for tools to be taken back");
  expect(await hook("PostToolUse")).toBeNull();
  await world.json(["cancel", later]);
  await until(() => flag() === "", "the flag to be gone");
});

test("Claude Code's SendMessage to an agent is taken by its hook", async () => {
  await using world = await startWorld(holdsInCopyMode);
  const { hook } = await adopted(world);
  const call = {
    tool_name: "SendMessage",
    tool_input: { to: "user", message: "by its own tool" },
    tool_use_id: "t-send",
  };
  expect(await hook("PreToolUse", call)).toEqual(refusing("The message is sent."));
  expect(await world.inbox("user")).toMatchObject([{ from: "ana", body: "by its own tool" }]);
});

test("what an earlier daemon flagged is not flagged for ever", async () => {
  await using world = await startWorld(holdsInCopyMode);
  const { flag } = await adopted(world);
  await world.json(["daemon", "stop"]);
  writeFileSync(hooksOf(world, "mail", "s-1"), "PreToolUse\n");
  await world.json(["daemon", "start"]);
  expect(flag()).toBe("");
});
