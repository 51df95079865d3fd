import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

const settingsOf = (world: World): Record<string, unknown> => JSON.parse(readFileSync(join(world.dir, ".claude", "settings.json"), "utf8")) as Record<string, unknown>;
const portOf = (world: World): number => Number(readFileSync(join(world.env["TIELINE_HOME"]!, "port"), "utf8"));

test("setup --hooks claude: in, again, out; a broken file is left alone", async () => {
  await using world = await startWorld();
  mkdirSync(join(world.dir, ".claude"));
  const before = { theme: "dark", hooks: { Stop: [{ hooks: [{ type: "command", command: "beep" }] }] } };
  writeFileSync(join(world.dir, ".claude", "settings.json"), JSON.stringify(before));
  const setup = (...args: string[]) => world.json<{ changed: boolean; file: string }>(["setup", "--hooks", "claude", ...args]);
  expect((await setup()).changed).toBe(true);
  expect(JSON.stringify(settingsOf(world))).toContain(`http://127.0.0.1:${portOf(world)}/hooks/claude-code`);
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
async function adopted(world: World): Promise<void> {
  const pane = await world.pane(["cat"]);
  await world.json(["adopt", pane, "--name", "ana", "--provider", "generic"]);
  const start = { session_id: "s-1", hook_event_name: "SessionStart", source: "startup" };
  const socket = (await world.tmux("display-message", "-p", "#{socket_path}")).trim();
  const env = { ...world.env, TMUX: `${socket},1,0`, TMUX_PANE: pane };
  const hook = Bun.spawn([join(world.env["TIELINE_HOME"]!, "hooks", "hook"), "claude-code", "SessionStart"], { env, stdin: new Blob([JSON.stringify(start)]) });
  expect(await hook.exited).toBe(0);
  await until(async () => (await world.ls())[0]?.sessionId === "s-1", "the session to be known");
}

test("an http hook is answered with the urgent message of its session, once, and a session that nobody knows with nothing", async () => {
  await using world = await startWorld({ config: { delivery: { copyMode: "hold" } } });
  await adopted(world);
  const ask = async (session: string, event = "PreToolUse"): Promise<unknown> => {
    const payload = { session_id: session, hook_event_name: event, tool_name: "Bash", tool_input: { command: "touch auth.ts" }, tool_use_id: "t" };
    const response = await fetch(`http://127.0.0.1:${portOf(world)}/hooks/claude-code`, { method: "POST", body: JSON.stringify(payload) });
    return response.json();
  };
  expect(await ask("s-1")).toEqual({});
  // Nothing is typed there now, so that the hook is the only way.
  await world.tmux("copy-mode", "-t", (await world.ls())[0]!.pane!);
  const { tag } = await world.json<{ tag: string }>(["send", "ana", "--when", "interrupt", "do not touch auth.ts"]);
  expect(await ask("s-2")).toEqual({});
  expect(await ask("s-1")).toMatchObject({ hookSpecificOutput: { permissionDecision: "deny", permissionDecisionReason: expect.stringContaining(`[${tag} from user · urgent]`) } });
  await until(async () => (await world.status(tag)).deliveries[0]!.state === "handed", "the receipt");
  expect((await world.status(tag)).deliveries[0]).toMatchObject({ transport: "hook", proof: "submitted", reason: "stopped Bash touch auth.ts" });
  expect(await ask("s-1", "PostToolBatch")).toEqual({});
  expect(await ask("s-1")).toEqual({});
  expect(existsSync(join(world.env["TIELINE_HOME"]!, "hooks", "mail", "s-1"))).toBe(false);
});
