import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { promptAgentPath } from "../../testing/promptAgent.ts";
import { direct, scriptedAgentCommand } from "../../testing/scriptedAgent.ts";
import { until } from "../../testing/until.ts";
import { startWorld, type World } from "../../testing/world.ts";

const program = (world: World, name: string): string =>
  `[${process.execPath}, ${promptAgentPath}, ${join(world.dir, `${name}.log`)}]`;

let world: World;
beforeEach(async () => {
  world = await startWorld();
  const agents = ["lead", "ana", "bob", "cleo"].map(
    (name) => `  ${name}:\n    provider: generic\n    command: ${program(world, name)}\n`,
  );
  world.file("tieline.yaml", `team: web\nagents:\n${agents.join("")}`);
  await world.trust();
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

const paneOf = async (name: string): Promise<string> => (await world.ls()).find((agent) => agent.name === name)!.pane!;
const windows = async (): Promise<string[]> =>
  (await world.tmux("list-windows", "-t", "=web:", "-F", "#{window_name} #{window_panes}")).split("\n").toSorted();
const format = (pane: string, text: string): Promise<string> => world.tmux("display-message", "-p", "-t", pane, text);

describe("tieline layout", () => {
  test("mosaic shows all agents in one window, the lead top left, with names; restore undoes it", async () => {
    expect((await world.tieline(["up"])).code).toBe(0);
    const before = await windows();
    const done = await world.json<{ shown: string[]; leftOut: unknown[] }>(["layout", "mosaic"]);
    expect(done.shown[0]).toBe("lead");
    expect(done.shown.toSorted()).toEqual(["ana", "bob", "cleo", "lead"]);
    expect(done.leftOut).toEqual([]);
    const lead = await paneOf("lead");
    expect(await format(lead, "#{pane_left},#{pane_top} #{window_panes} #{window_name}")).toMatch(/^0,[01] 4 mosaic$/);
    expect(await format(lead, "#{pane-border-status}")).toBe("top");
    expect(await format(await paneOf("ana"), "#{E:pane-border-format}")).toContain("ana");

    expect((await world.tieline(["layout", "main-vertical"])).code).toBe(0);
    expect(await format(lead, "#{window_panes}")).toBe("4");

    const restored = await world.json<{ shown: string[] }>(["layout", "restore"]);
    expect(restored.shown.toSorted()).toEqual(["ana", "bob", "cleo", "lead"]);
    expect(await windows()).toEqual(before);
    expect((await world.tieline(["send", "ana", "still", "there?", "--wait", "delivered"])).code).toBe(0);
  }, 60_000);

  test("mosaic with a session for each agent: all in one view, then each in its own session again", async () => {
    await world[Symbol.asyncDispose]();
    world = await startWorld({ config: { session: { naming: "session" } } });
    const agents = ["lead", "ana", "bob"].map(
      (name) => `  ${name}:\n    provider: generic\n    command: ${program(world, name)}\n`,
    );
    world.file("tieline.yaml", `team: web\nagents:\n${agents.join("")}`);
    await world.trust();
    expect((await world.tieline(["up"])).code).toBe(0);
    const places = async (): Promise<string[]> =>
      (await world.tmux("list-panes", "-a", "-F", "#{session_name}:#{window_name} #{pane_id} #{@tieline_agent}"))
        .split("\n")
        .filter((line) => line.startsWith("agent-"))
        .toSorted();
    const before = await places();
    expect(await world.json(["layout", "mosaic"])).toMatchObject({
      session: "agent-web-lead",
      shown: ["lead", "ana", "bob"],
      leftOut: [],
    });
    expect(await format(await paneOf("lead"), "#{window_panes} #{pane_left}")).toBe("3 0");
    expect((await world.ls()).map(({ state }) => state)).toEqual(["idle", "idle", "idle"]);
    expect((await world.tieline(["send", "ana", "in the mosaic", "--wait", "delivered"])).code).toBe(0);
    expect((await world.json<{ shown: string[] }>(["layout", "restore"])).shown.toSorted()).toEqual([
      "ana",
      "bob",
      "lead",
    ]);
    expect(await places()).toEqual(before);
    expect((await world.tieline(["send", "bob", "at home", "--wait", "delivered"])).code).toBe(0);
  }, 60_000);

  test("an empty team and an unknown layout are refused", async () => {
    expect(await world.tieline(["layout", "mosaic"])).toMatchObject({
      code: expect.any(Number),
      stderr: expect.stringContaining("PANE_UNKNOWN"),
    });
    expect((await world.tieline(["layout", "spiral"])).code).toBe(2);
  }, 60_000);
});

describe("borders", () => {
  test("show agent, state and waiting mail, in our windows only", async () => {
    expect((await world.tieline(["up", "ana"])).code).toBe(0);
    const pane = await paneOf("ana");
    await until(async () => (await format(pane, "#{E:pane-border-format}")).includes("ana · idle"), "the label");
    // A draft keeps mail waiting.
    await world.tmux("send-keys", "-t", pane, "draft");
    await world.tieline(["send", "ana", "later"]);
    await until(async () => (await format(pane, "#{E:pane-border-format}")).includes("1 mail"), "the waiting mail");

    const foreign = await world.pane(["cat"]);
    await world.tieline(["adopt", foreign, "--name", "cat", "--provider", "generic", "--team", "web"]);
    await world.tieline(["ls"]);
    expect(await format(foreign, "#{pane-border-status}")).toBe("off");
  }, 60_000);
});

test("while a user sits in the session, its borders follow what happens, without a request", async () => {
  const dir = join(world.dir, "scripted");
  mkdirSync(dir);
  world.file(
    "tieline.yaml",
    `team: web\nagents:\n  ana:\n    provider: claude-code\n    command: [${scriptedAgentCommand(dir).join(", ")}]\n`,
  );
  await world.trust();
  expect((await world.tieline(["up"])).code).toBe(0);
  const pane = await paneOf("ana");
  const label = (): Promise<string> => format(pane, "#{E:pane-border-format}");
  await until(async () => (await label()).includes("ana · idle"), "the label");
  // The terminal of a user is a pane, here in another session of the same server.
  const terminal = await world.pane(["-u", "TMUX", "tmux", "-L", "private", "attach-session", "-t", "=web"]);
  await until(
    async () => (await world.tmux("list-clients", "-F", "#{?client_control_mode,,#{session_name}}")).includes("web"),
    "the user",
  );
  await direct(dir, { state: "permission" });
  await until(async () => (await label()).includes("permission"), "the dialog on the border");
  await world.tmux("kill-pane", "-t", terminal);
}, 60_000);

describe("tieline alone", () => {
  test("without a terminal it prints the help", async () => {
    expect(await world.tieline([])).toMatchObject({ code: 0, stdout: expect.stringContaining("usage: tieline") });
  });

  test("on a terminal it starts the team and attaches to its session", async () => {
    // A terminal is a pane of another session of the same server, as for a user who works in tmux.
    const home = Object.entries(world.env).map(([key, value]) => `${key}=${value}`);
    const launcher = new URL("../../../bin/tieline", import.meta.url).pathname;
    const terminal = await world.pane(["-u", "TMUX", "-u", "TMUX_PANE", "-C", world.project, ...home, launcher]);
    await until(
      async () =>
        (await world.tmux("list-clients", "-F", "#{?client_control_mode,,#{session_name}}"))
          .split("\n")
          .includes("web"),
      "a client on the team's session",
    );
    expect((await world.ls()).map(({ name }) => name).toSorted()).toEqual(["ana", "bob", "cleo", "lead"]);
    await world.tmux("kill-pane", "-t", terminal);
  }, 60_000);
});
