import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeUnless, lackUnless } from "../../src/testing/needing.ts";
import { until, untilGone } from "../../src/testing/until.ts";
import { startWorld, type World } from "../../src/testing/world.ts";

/** What `faketime` puts in front of a program with threads. */
const fakeLibrary =
  Bun.which("faketime") === null
    ? ""
    : Bun.spawnSync(["faketime", "-m", "now", "sh", "-c", "printf %s $LD_PRELOAD"]).stdout.toString();
const daemonProgram = new URL("../../src/daemon/main.ts", import.meta.url).pathname;

interface ClockedWorld extends AsyncDisposable {
  readonly world: World;
  /** From now on every clock of this machine is so many seconds away from the right time. */
  set(seconds: number): Promise<void>;
  restart(): Promise<void>;
  log(): string;
}

/**
 * What all programs with the fake clock share. Otherwise each makes its own, named after its pid, leaves it behind, and
 * exits at once if one that had the same pid before has done so.
 */
async function sharedClock(env: Record<string, string>): Promise<AsyncDisposable & { readonly name: string }> {
  for (;;) {
    const holder = Bun.spawn(["sh", "-c", 'echo "$FAKETIME_SHARED"; exec cat'], {
      env: { PATH: process.env["PATH"]!, ...env },
      stdin: "pipe",
      stdout: "pipe",
      stderr: "ignore",
    });
    let said = "";
    for await (const chunk of holder.stdout) if ((said += new TextDecoder().decode(chunk)).endsWith("\n")) break;
    const name = said.trim();
    const [semaphore, memory] = name.split(" ");
    if (semaphore === undefined || memory === undefined) continue;
    return {
      name,
      async [Symbol.asyncDispose]() {
        await holder.stdin.end();
        await holder.exited;
        for (const file of [`sem.${semaphore.slice(1)}`, memory.slice(1)]) rmSync(`/dev/shm/${file}`, { force: true });
      },
    };
  }
}

/** A daemon and a tmux server whose wall clock the test sets, as one sets that of a machine; time passes as it does. */
async function startClocked(options: Parameters<typeof startWorld>[0] = {}): Promise<ClockedWorld> {
  const world = await startWorld(options);
  await world.tieline(["daemon", "stop"]);
  const file = join(world.dir, "clock");
  writeFileSync(file, "+0\n");
  const fake = {
    LD_PRELOAD: fakeLibrary,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
  };
  const shared = await sharedClock(fake);
  Object.assign(world.env, fake, { FAKETIME_SHARED: shared.name });
  const log = (): string => readFileSync(join(world.env["TIELINE_HOME"]!, "daemon.log"), "utf8");
  let daemon: Bun.Subprocess | null = null;
  const start = async (): Promise<void> => {
    daemon = Bun.spawn([process.execPath, daemonProgram], {
      env: world.env,
      cwd: "/",
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    for await (const chunk of daemon.stdout as ReadableStream<Uint8Array>) {
      expect(new TextDecoder().decode(chunk)).toBe("ready\n");
      break;
    }
  };
  await start();
  return {
    world,
    log,
    async set(seconds) {
      const before = log().split("the clock was set").length;
      writeFileSync(`${file}.new`, `${seconds < 0 ? "" : "+"}${seconds}\n`);
      renameSync(`${file}.new`, file);
      await until(() => log().split("the clock was set").length > before, "the daemon to notice its clock");
    },
    async restart() {
      daemon!.kill("SIGKILL");
      await daemon!.exited;
      await start();
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      daemon?.kill("SIGKILL");
      if (daemon) await untilGone(daemon.pid);
      await shared[Symbol.asyncDispose]();
    },
  };
}

const day = 86_400;
const hour = 3_600;
const jumps = [hour, -hour, 60 * day, -60 * day];

/** Delivered within the time that the command waits by itself, whatever its clock says. */
const reaches = async (world: World, name: string, body: string): Promise<void> =>
  expect(await world.tieline(["send", "--wait", "delivered", "--timeout", "20s", name, body])).toMatchObject({
    code: 0,
  });

const filesProject = `team: files
agents:
  writer: { command: [sleep, "1000000"], workspace: room, input: files }
`;
const held = { config: { delivery: { copyMode: "hold" } } };

/** An agent whose mail waits, because its pane is in copy mode. */
async function heldAgent(world: World): Promise<string> {
  const pane = await world.pane(["cat"]);
  await world.json(["adopt", pane, "--name", "later", "--provider", "generic"]);
  await world.tmux("copy-mode", "-t", pane);
  return "later";
}

function outboxFile(world: World, name: string, entry: object): void {
  const outbox = join(world.project, "room/.outbox");
  writeFileSync(join(outbox, `.${name}`), JSON.stringify(entry));
  renameSync(join(outbox, `.${name}`), join(outbox, `${name}.json`));
}

const inboxFiles = (world: World): { id: string; tag: string; content: string }[] =>
  readdirSync(join(world.project, "room/.inbox"))
    .filter((name) => /^\d.*\.json$/.test(name))
    .sort()
    .map(
      (name) =>
        JSON.parse(readFileSync(join(world.project, "room/.inbox", name), "utf8")) as {
          id: string;
          tag: string;
          content: string;
        },
    );

describeUnless(lackUnless(fakeLibrary !== "", "faketime is missing here"))("a machine whose clock is set", () => {
  describe.each(jumps)("by %d s", (jump) => {
    test("holds no mail, before and after it is corrected", async () => {
      await using clocked = await startClocked();
      const { world } = clocked;
      await world.json(["adopt", await world.pane(["cat"]), "--name", "ana", "--provider", "generic"]);
      await reaches(world, "ana", "at the right time");
      await clocked.set(jump);
      await reaches(world, "ana", "while the clock is wrong");
      await clocked.set(0);
      await reaches(world, "ana", "when it is right again");
    });

    test("expires nothing, loses no answer, and limits no sender", async () => {
      await using clocked = await startClocked({ files: { "tieline.yaml": filesProject }, ...held });
      const { world } = clocked;
      expect(await world.tieline(["up", "writer"])).toMatchObject({ code: 0 });
      await until(() => existsSync(join(world.project, "room/.outbox")), "the outbox");
      const { tag } = await world.json<{ tag: string }>([
        "send",
        await heldAgent(world),
        "--ttl",
        "1h",
        "waits for an hour",
      ]);
      const asked = world.tieline(["ask", "writer", "--timeout", "60s", "still there?"]);
      await until(() => inboxFiles(world).length === 1, "the question");
      await clocked.set(jump);
      outboxFile(world, "1", { to: "user", content: "yes", replyTo: inboxFiles(world)[0]!.tag });
      expect(await asked).toMatchObject({ code: 0, stdout: "yes\n" });
      for (let at = 2; at < 8; at++) outboxFile(world, String(at), { to: "user", content: `more ${at}` });
      await until(
        async () => (await world.inbox("user")).filter(({ body }) => body.startsWith("more")).length === 6,
        "the writer's messages",
      );
      expect((await world.status(tag)).deliveries[0]!.state).toBe("queued");
      await clocked.restart();
      await clocked.set(0);
      expect((await world.status(tag)).deliveries[0]!.state).toBe("queued");
      const exported = (await world.tieline(["export"])).stdout
        .trim()
        .split("\n")
        .filter((line) => line.includes('"type":"message"'));
      expect(exported).toHaveLength((await world.json<unknown[]>(["log", "--limit", "1000"])).length);
    });
  });

  test("is corrected while no daemon runs: what waits keeps its time", async () => {
    await using clocked = await startClocked(held);
    const { world } = clocked;
    await clocked.set(600);
    const { tag } = await world.json<{ tag: string }>([
      "send",
      await heldAgent(world),
      "--ttl",
      "1h",
      "waits for an hour",
    ]);
    writeFileSync(join(world.dir, "clock"), "+0\n");
    await clocked.restart();
    await until(() => clocked.log().includes("the clock was set back by"), "the start to notice");
    const { deliveries } = await world.status(tag);
    const leftMs =
      Date.parse(String((await world.json<{ expiresAt: string }>(["status", tag])).expiresAt)) - Date.now();
    expect([deliveries[0]!.state, leftMs > 0]).toEqual(["queued", true]);
  });
});
