import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { registerReader } from "../src/testing/reader.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";
import { resultOf, type ChildResult } from "../src/testing/childResult.ts";

const launcher = new URL("../bin/tieline", import.meta.url).pathname;

/** Runs while the process is stopped; it continues in any case. */
async function whileStopped<Outcome>(pid: number, run: () => Promise<Outcome>): Promise<Outcome> {
  process.kill(pid, "SIGSTOP");
  try {
    return await run();
  } finally {
    process.kill(pid, "SIGCONT");
  }
}

async function timed(run: () => Promise<ChildResult>): Promise<ChildResult & { seconds: number }> {
  const from = performance.now();
  const result = await run();
  return { ...result, seconds: (performance.now() - from) / 1_000 };
}

/** A command that is under way when something happens to the daemon. */
function start(world: World, ...args: string[]) {
  const child = Bun.spawn([launcher, ...args], {
    cwd: world.project,
    env: world.env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  return { child, ended: resultOf(child) };
}

test("with the daemon stopped every command fails within seconds, names its pid and says what to do", async () => {
  await using world = await startWorld();
  await world.json(["daemon", "start"]);
  await registerReader("ana", world.env);
  const pid = await world.daemonPid();
  const { tag } = await world.json<{ tag: string }>(["send", "ana", "before"]);
  const waiting = [
    start(world, "ask", "ana", "hello?"),
    start(world, "send", "ana", "--wait", "seen", "--timeout", "10m", "hello"),
    start(world, "events", "-f"),
    start(world, "ls", "--watch"),
  ];
  await until(async () => (await world.json<unknown[]>(["log"])).length === 3, "the waiting commands to have sent");
  await whileStopped(pid, async () => {
    const commands = [
      ["ls"],
      ["send", "ana", "hello"],
      ["daemon", "status"],
      ["daemon", "stop"],
      ["inbox"],
      ["status", tag],
      ["daemon", "start"],
    ];
    const results = await Promise.all([
      ...commands.map((args) => timed(() => world.tieline(args))),
      ...waiting.map(({ ended }) => timed(() => ended)),
    ]);
    for (const { code, stderr, seconds } of results) {
      expect({ code, stderr }).toEqual({
        code: 5,
        stderr: expect.stringContaining(`error DAEMON_UNAVAILABLE: the daemon (pid ${pid}) is stopped`),
      });
      expect(stderr).toContain(`kill -CONT ${pid}`);
      expect(seconds).toBeLessThan(20);
    }
    const [json, doctor] = await Promise.all([world.tieline(["ls", "--json"]), world.tieline(["doctor"])]);
    expect({ code: doctor.code, stdout: doctor.stdout }).toEqual({
      code: 5,
      stdout: expect.stringContaining(`the daemon (pid ${pid}) is stopped`),
    });
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { code: "DAEMON_UNAVAILABLE", operands: { pid } } });
  });
  // It continues where it was. Calls that were reported as failed did not happen afterwards.
  expect((await world.tieline(["ls"])).code).toBe(0);
  expect(await world.json<unknown[]>(["log"])).toHaveLength(3);
  expect((await world.status(tag)).deliveries[0]).toMatchObject({ state: "queued" });
}, 90_000);

test("with the tmux server stopped, ls answers from what is known and says so", async () => {
  await using world = await startWorld();
  const pane = await world.pane(["cat"]);
  await world.json(["adopt", pane, "--name", "ana", "--provider", "generic"]);
  const before = (await world.ls())[0]!;
  expect(before).toMatchObject({ name: "ana", state: "idle", reason: null });
  const tmux = Number(await world.tmux("display-message", "-p", "#{pid}"));
  await whileStopped(tmux, async () => {
    const { code, stdout, seconds } = await timed(() => world.tieline(["ls"]));
    expect(code).toBe(0);
    expect(stdout).toMatch(/ana +idle .*as last seen; its tmux server does not answer/);
    expect(seconds).toBeLessThan(15);
    const [sent, listed] = await Promise.all([
      world.tieline(["send", "ana", "hello"]),
      world.tieline(["ls", "--json"]),
    ]);
    expect(sent.code).toBe(0);
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { name: "ana", state: "idle", reason: "as last seen; its tmux server does not answer" },
    ]);
  });
  await until(async () => (await world.ls())[0]!.reason === null, "tmux to be looked at again");
  await until(async () => (await world.screen(pane)).includes("hello"), "the mail to arrive");
}, 90_000);

test("a daemon that runs and answers again in time is waited for", async () => {
  await using world = await startWorld();
  await world.json(["daemon", "start"]);
  const pid = await world.daemonPid();
  process.kill(pid, "SIGSTOP");
  const asking = world.tieline(["ls"]);
  await Bun.sleep(500);
  process.kill(pid, "SIGCONT");
  expect((await asking).code).toBe(0);
});

test("the pid in the home is the daemon's, and gone with it", async () => {
  await using world = await startWorld();
  await world.json(["daemon", "start"]);
  const file = join(world.env["TIELINE_HOME"]!, "daemon.pid");
  expect(Number(readFileSync(file, "utf8").split(" ")[0])).toBe(await world.daemonPid());
  await world.json(["daemon", "stop"]);
  expect(() => readFileSync(file)).toThrow("ENOENT");
});
