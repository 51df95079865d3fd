import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AgentView, Output, ReceiptView } from "../src/api/schema.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

/** tmux can drop what a program prints as its last act. It answers this question when it has read all before it. */
const isRead = "stty -icanon -echo; printf '\\033[6n'; dd bs=1 count=1 >/dev/null 2>&1";

const yaml = `team: web
agents:
  crash: { command: 'echo one; echo "no such model" >&2; . ./read.sh; exit 3' }
  node: { command: [node, crash.js], autostart: false, promptPattern: '^> ?$' }
  signal: { command: [sh, -c, 'kill -SEGV $$'] }
  wrong: { command: [cat, --bogus-flag] }
  later: { command: [sh, later.sh], promptPattern: '^> ?$' }
  lines: { command: 'echo started; exit 4', headless: true, provider: generic }
  steady: { command: [cat] }
`;

let world: World;
beforeAll(async () => {
  world = await startWorld({
    files: {
      "tieline.yaml": yaml,
      "crash.js": 'throw new Error("no such model")\n',
      "read.sh": isRead,
      "later.sh": "printf '> '\nread -r line\necho \"lost the connection\"\n. ./read.sh\nexit 7\n",
    },
  });
});
afterAll(() => world[Symbol.asyncDispose]());

const agent = async (name: string): Promise<AgentView> => (await world.ls()).find((one) => one.name === name)!;
const windows = async (): Promise<string[]> =>
  (await world.tmux("list-windows", "-a", "-F", "#{window_name}")).split("\n");

describe("a program that ends at once", () => {
  test("is shown with command, exit code and last lines: by up, in ls, and with the queued message", async () => {
    const { code, stderr } = await world.tieline(["up", "crash", "steady"]);
    expect(code).toBe(4);
    expect(stderr).toMatch(/^error SPAWN_FAILED: crash exited with code 3: no such model \(after \d+\.\d s\)\n/);
    expect(stderr).toContain("  | one\n  | no such model\n");
    expect(stderr).toMatch(
      /correct its command \(`\S*sh -c 'echo one; echo "no such model" >&2; \. \S+; exit 3'`\) or what it needs; /,
    );
    expect(stderr).toContain(`it runs in ${world.project}`);
    expect(await agent("crash")).toMatchObject({
      state: "gone",
      exit: { code: 3, signal: null, output: ["one", "no such model"] },
    });
    expect((await world.tieline(["ls"])).stdout).toMatch(
      /crash .* exited with code 3: no such model \(after \d+\.\d s\)/,
    );

    const { tag } = await world.json<ReceiptView>(["send", "crash", "hello"]);
    await until(
      async () => (await world.status(tag)).steps.some(({ reason }) => reason?.includes("exited with code 3") ?? false),
      "the reason",
    );
    const { stdout } = await world.tieline(["status", tag]);
    expect(stdout).toContain("crash is not running: exited with code 3: no such model (after ");
    expect(stdout).toMatch(
      /\ncrash: `\S*sh -c .*` exited with code 3: no such model \(.*\)\n {2}\| one\n {2}\| no such model\n/,
    );
    expect((await world.tieline(["ls"])).stdout).toMatch(
      /crash .*  exited with code 3: no such model \(after .*; the next start is in \d+ s/,
    );
    await world.json(["cancel", tag]);
  });

  test("of Node is shown with its error, not with what Node prints below it", async () => {
    const { stderr } = await world.tieline(["up", "node"]);
    expect(stderr).toStartWith("error SPAWN_FAILED: node exited with code 1: Error: no such model (after ");
    expect(stderr).toMatch(/\n {2}\| Node\.js v/);
    const { tag } = await world.json<ReceiptView>(["send", "node", "hello"]);
    const { stdout } = await world.tieline(["status", tag]);
    expect(stdout).toContain("  | Error: no such model\n");
    expect(stdout.split("\n").filter((line) => line.startsWith("  | "))).toHaveLength(5);
    await world.json(["cancel", tag]);
  });

  test("is still known after a restart of the daemon, until it is started again", async () => {
    await world.killDaemon();
    expect(await agent("crash")).toMatchObject({
      state: "gone",
      reason: expect.stringContaining("exited with code 3"),
      exit: { code: 3 },
    });
    expect(await agent("steady")).toMatchObject({ exit: null });
  });

  test.each([
    ["signal", "was ended by signal 11"],
    ["wrong", "exited with code 1: "],
    ["lines", "exited with code 4: started (after "],
  ])("%s: %s", async (name, words) => {
    const { stderr, code } = await world.tieline(["spawn", name]);
    const all = code === 0 ? "" : stderr;
    if (code === 0) await until(async () => (await agent(name)).state === "gone", "its end");
    expect(all || (await agent(name)).reason).toContain(words);
    expect(await windows()).not.toContain(name);
  });

  test("says so also where it was ready already, and leaves no pane behind", async () => {
    const started = await world.json<AgentView>(["spawn", "later"]);
    expect(started.state).not.toBe("gone");
    await world.tmux("send-keys", "-t", started.pane!, "Enter");
    await until(async () => (await agent("later")).state === "gone", "its end");
    expect(await agent("later")).toMatchObject({
      exit: { command: expect.stringMatching(/^\S*sh later\.sh$/), code: 7 },
      reason: expect.stringContaining("exited with code 7"),
    });
    expect((await agent("later")).exit!.output.at(-1)).toBe("lost the connection");
    expect(await windows()).not.toContain("later");
  });

  test("a program that keeps running has a pane that closes with it", async () => {
    const { started } = await world.json<Output<"up">>(["up", "steady"]);
    const { pane } = started[0] ?? (await agent("steady"));
    const keeps = (): Promise<string> => world.tmux("show-options", "-p", "-v", "-t", pane!, "remain-on-exit");
    await until(async () => (await keeps()) === "", "the end of its start");
    await world.tmux("send-keys", "-t", pane!, "C-d");
    await until(async () => !(await windows()).includes("steady"), "its pane to close");
    expect(await agent("steady")).toMatchObject({ state: "gone", exit: null });
  });

  test("a program that is stopped right after its start is stopped, and its pane closes", async () => {
    await world.json(["spawn", "steady"]);
    await world.json(["stop", "steady"]);
    await until(async () => !(await windows()).includes("steady"), "its pane to close");
    expect(await agent("steady")).toMatchObject({ state: "suspended", exit: null });
  });

  test("a daemon that was killed during a start leaves no pane that outlives its program", async () => {
    const { pane } = await world.json<AgentView>(["spawn", "steady"]);
    await world.killDaemon();
    await world.ls();
    await until(
      async () => (await world.tmux("show-options", "-p", "-v", "-t", pane!, "remain-on-exit")) === "",
      "the end of its start",
    );
  });
});
