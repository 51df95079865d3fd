import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { DialogView } from "../src/api/schemas/life.ts";
import { direct, logOf, scriptedAgentCommand } from "../src/testing/scriptedAgent.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

/** A dialog is answered only after it was shown and the answer was confirmed. */
describe("tieline answer", () => {
  let world: World;
  let dir: string;

  beforeAll(async () => {
    world = await startWorld();
    dir = join(world.dir, "worker");
    mkdirSync(dir);
    const worker = { provider: "claude-code", command: scriptedAgentCommand(dir) };
    const agents = { worker, boss: { command: ["cat"], may: ["answer"] }, peer: { command: ["cat"] } };
    world.file("tieline.yaml", JSON.stringify({ team: "web", agents }));
    await world.trust();
    for (const name of Object.keys(agents)) await world.json(["spawn", name]);
  });
  beforeEach(async () => {
    await direct(dir, { state: "permission" });
    await until(
      async () => (await world.ls()).find(({ name }) => name === "worker")!.state === "permission",
      "the dialog",
    );
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const answered = (): string[] => logOf(dir).flatMap((entry) => ("answered" in entry ? [entry.answered] : []));

  /** What a command inside that agent's pane says about itself. */
  async function within(name: string): Promise<{ env: Record<string, string> }> {
    const { pane } = (await world.ls()).find((one) => one.name === name)!;
    return { env: { TMUX: `${await world.tmux("display-message", "-p", "#{socket_path}")},1,0`, TMUX_PANE: pane! } };
  }

  test("shows the dialog and its choices, and presses nothing", async () => {
    const { code, stdout } = await world.tieline(["answer", "worker"]);
    expect(code).toBe(0);
    expect(stdout).toContain("rm -rf build");
    expect(stdout).toContain("tieline answer worker 1|2");
    const dialog = await world.json<DialogView>(["answer", "worker"]);
    expect(dialog).toMatchObject({
      agent: "worker",
      state: "permission",
      choices: [
        { choice: 1, label: "Yes" },
        { choice: 2, label: "No" },
      ],
    });
    expect(answered()).toEqual([]);
  });

  test("a choice needs --yes without a terminal; its text is shown first", async () => {
    const { code, stdout, stderr } = await world.tieline(["answer", "worker", "1"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("pass --yes")]);
    expect(stdout).toContain("rm -rf build");
    expect(answered()).toEqual([]);
  });

  test("an agent may not, unless its profile says so", async () => {
    const refused = await world.tieline(["answer", "worker", "1", "--yes"], await within("peer"));
    expect([refused.code, refused.stderr]).toEqual([
      3,
      expect.stringContaining("error NOT_PERMITTED: peer may not do this"),
    ]);
    expect(answered()).toEqual([]);
    expect(await world.json(["answer", "worker", "no", "--yes"], await within("boss"))).toEqual({
      agent: "worker",
      choice: 2,
      label: "No",
    });
    await until(() => answered().length === 1, "the key");
    expect(answered()).toEqual(["2"]);
  });

  test.each([
    ["y\n", ["2", "1"]],
    ["n\n", ["2", "1"]],
    ["\n", ["2", "1"]],
  ])("on a terminal it asks; %j", async (reply, keys) => {
    let said = "";
    const decoder = new TextDecoder();
    const terminal = {
      cols: 100,
      rows: 30,
      data: (_: unknown, chunk: Uint8Array) => void (said += decoder.decode(chunk, { stream: true })),
    };
    const child = Bun.spawn([join(import.meta.dir, "../bin/tieline"), "answer", "worker", "1"], {
      cwd: world.project,
      env: world.env,
      terminal,
    });
    await until(() => said.includes("[y/N]"), "the question");
    expect(said).toContain("rm -rf build");
    child.terminal!.write(reply);
    expect(await child.exited).toBe(0);
    child.terminal!.close();
    await until(() => answered().length === keys.length, "the keys");
    expect(answered()).toEqual(keys);
  });

  test("a choice that the dialog does not take is no success", async () => {
    await direct(dir, { deaf: true });
    const before = answered();
    const { code, stderr } = await world.tieline(["answer", "worker", "1", "--yes"]);
    expect([code, stderr]).toEqual([
      4,
      expect.stringContaining("error NOT_IN_TIME: choice 1 (Yes) was sent to worker, and its dialog is still open"),
    ]);
    expect(answered()).toEqual([...before, "1"]);
    await direct(dir, { deaf: false });
  });

  test("mail for it waits, whatever was pressed", async () => {
    const { code, stderr } = await world.tieline(["send", "worker", "--wait", "delivered", "--timeout", "1s", "later"]);
    expect([code, stderr]).toEqual([4, expect.stringContaining("a permission dialog is open")]);
    expect(logOf(dir).filter((entry) => "submitted" in entry || "swallowedPaste" in entry)).toEqual([]);
  });
});
