import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { keeping } from "../../src/testing/keeping.ts";
import { testUnless } from "../../src/testing/needing.ts";
import { createOtherUser, lackOfOtherUser } from "../../src/testing/otherUser.ts";
import { until } from "../../src/testing/until.ts";
import { startWorld, type World } from "../../src/testing/world.ts";

const keep = keeping();
const aWorld = async (...given: Parameters<typeof startWorld>): Promise<World> => keep(await startWorld(...given));

function makeFifo(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true });
  if (Bun.spawnSync(["mkfifo", path]).exitCode !== 0) throw new Error(`mkfifo ${path}`);
  return path;
}

const logOf = (world: World): string => readFileSync(join(world.env["TIELINE_HOME"]!, "daemon.log"), "utf8");

/** The daemon answers, and mail reaches an agent that has nothing to do with the attack. */
async function isAlive(world: World, options: { cwd?: string } = {}): Promise<void> {
  expect(await world.tieline(["daemon", "status"], options)).toMatchObject({ code: 0 });
  const name = `bystander${Math.random().toString(36).slice(2, 8)}`;
  expect(
    await world.tieline(["adopt", await world.pane(["cat"]), "--name", name, "--provider", "generic"], options),
  ).toMatchObject({ code: 0 });
  expect(await world.tieline(["send", "--wait", "delivered", name, "are you there?"], options)).toMatchObject({
    code: 0,
  });
}

/** A pane that says of itself, by its hooks, that it is a session of Claude Code. */
async function aSession(world: World, transcript: string) {
  const pane = await world.pane(["cat"]);
  await world.json(["adopt", pane, "--name", "ana", "--provider", "claude-code"]);
  const socket = (await world.tmux("display-message", "-p", "#{socket_path}")).trim();
  const env = { ...world.env, TMUX: `${socket},1,0`, TMUX_PANE: pane };
  const hook = async (event: string, payload: object): Promise<void> => {
    const stdin = new Blob([
      JSON.stringify({ session_id: "s-1", transcript_path: transcript, hook_event_name: event, ...payload }),
    ]);
    expect(
      await Bun.spawn([join(world.env["TIELINE_HOME"]!, "hooks", "hook"), "claude-code", event], {
        env,
        stdin,
        stdout: "ignore",
      }).exited,
    ).toBe(0);
  };
  await hook("SessionStart", { source: "startup" });
  await until(
    async () => (await world.ls()).find(({ name }) => name === "ana")?.sessionId === "s-1",
    "the session to be known",
  );
  return {
    /** A message that the session has, and that only a transcript could prove as seen. */
    async delivered(): Promise<string> {
      const { tag } = await world.json<{ tag: string }>([
        "send",
        "ana",
        "--when",
        "tool",
        "please prove that you saw this",
      ]);
      await hook("PostToolUse", { tool_name: "Bash", tool_input: { command: "true" }, tool_use_id: "t" });
      await until(
        async () => (await world.status(tag)).deliveries[0]!.state === "delivered",
        "the message to be given by the hook",
      );
      return tag;
    },
  };
}

const given = (tag: string): string =>
  `${JSON.stringify({ type: "user", message: { content: `[${tag} from user]` } })}\n`;

describe("a FIFO blocks nothing", () => {
  test("as the transcript that a hook names, where transcripts are kept", async () => {
    const world = await aWorld();
    await world.ls();
    const session = await aSession(world, makeFifo(join(world.dir, ".claude/projects/evil/s-1.jsonl")));
    await session.delivered();
    await until(() => logOf(world).includes("is a FIFO, not a regular file"), "the refusal in the log");
    await isAlive(world);
  });

  test("as a transcript elsewhere, which is not even looked at", async () => {
    const world = await aWorld();
    await world.ls();
    const session = await aSession(world, makeFifo(join(world.dir, "elsewhere/s-1.jsonl")));
    await session.delivered();
    await isAlive(world);
    expect(logOf(world)).not.toContain("elsewhere/s-1.jsonl");
  });

  test("in the place of a known project's tieline.yaml, also after a restart", async () => {
    const world = await aWorld({ files: { "tieline.yaml": "team: web\nagents:\n  coder: { command: [cat] }\n" } });
    expect(await world.tieline(["up"])).toMatchObject({ code: 0 });
    makeFifo(join(world.project, "tieline.yaml"));
    const elsewhere = { cwd: world.dir };
    for (const _round of ["running", "restarted"]) {
      await isAlive(world, elsewhere);
      await world.killDaemon();
      await world.tieline(["ls"], elsewhere);
    }
    renameSync(join(world.project, "tieline.yaml"), join(world.project, "gone"));
    world.file("tieline.yaml", "team: web\nagents:\n  coder: { command: [cat] }\n");
    expect(await world.tieline(["ls"])).toMatchObject({ code: 0 });
  });

  test("as a profile of the project or the user, which is refused by its name", async () => {
    const world = await aWorld({ files: { "tieline.yaml": "team: web\n" } });
    makeFifo(join(world.project, ".tieline/agents/evil.md"));
    makeFifo(join(world.env["TIELINE_HOME"]!, "agents/worse.md"));
    for (const name of ["evil", "worse"]) {
      const { code, stderr } = await world.tieline(["spawn", name]);
      expect([code === 0, stderr.length > 0]).toEqual([false, true]);
    }
    await isAlive(world);
  });

  test("as config.json, or as settings that setup would change", async () => {
    const world = await aWorld();
    makeFifo(join(world.dir, ".claude/settings.json"));
    const hooks = await world.tieline(["setup", "--hooks", "claude"]);
    expect(hooks).toMatchObject({ code: 3 });
    expect(hooks.stderr).toContain("FILE_REFUSED");
    makeFifo(join(world.dir, ".tmux.conf"));
    const shortcuts = await world.tieline(["shortcuts", "install"]);
    expect(shortcuts).toMatchObject({ code: 3 });
    expect(shortcuts.stderr).toContain("FILE_REFUSED");
    await isAlive(world);
    await world.tieline(["daemon", "stop"]);
    makeFifo(join(world.env["TIELINE_HOME"]!, "config.json"));
    const started = await world.tieline(["ls"]);
    expect(started).toMatchObject({ code: 3 });
    expect(started.stderr).toContain("config.json is a FIFO, not a regular file");
    rmSync(join(world.env["TIELINE_HOME"]!, "config.json"));
  });

  test("in Claude Code's registry and teams", async () => {
    const world = await aWorld();
    const { pid } = process;
    makeFifo(join(world.dir, `.claude/sessions/${pid}.json`));
    makeFifo(join(world.dir, ".claude/teams/crew/config.json"));
    mkdirSync(join(world.dir, ".claude/teams/web/inboxes"), { recursive: true });
    writeFileSync(
      join(world.dir, ".claude/teams/web/config.json"),
      JSON.stringify({ name: "web", leadAgentId: "team-lead@web", members: [{ name: "bob" }] }),
    );
    makeFifo(join(world.dir, ".claude/teams/web/inboxes/user.json"));
    await world.ls();
    await until(() => logOf(world).includes("inboxes/user.json is a FIFO"), "the refusal in the log");
    await isAlive(world);
  });

  test("in an outbox, as a log, in an inbox", async () => {
    const yaml =
      `team: files\nagents:\n  writer: { command: [sleep, "1000000"], workspace: room, input: files, logs: ` +
      `"logs/*.txt" }\n`;
    const world = await aWorld({ files: { "tieline.yaml": yaml, "logs/a.txt": "" } });
    expect(await world.tieline(["up"])).toMatchObject({ code: 0 });
    const room = join(world.project, "room");
    await until(() => existsSync(join(room, ".outbox")), "the outbox");
    makeFifo(join(world.project, "logs/b.txt"));
    makeFifo(join(room, ".inbox/0001_x.json"));
    makeFifo(join(room, ".outbox/1.json"));
    await until(() => existsSync(join(room, ".outbox/.rejected/1.json.reason.txt")), "the FIFO to be put aside");
    expect(readFileSync(join(room, ".outbox/.rejected/1.json.reason.txt"), "utf8")).toBe(
      "it is a FIFO, not a regular file\n",
    );
    await isAlive(world);
  });
});

describe("a transcript proves nothing", () => {
  testUnless(lackOfOtherUser())("when another user wrote it", async () => {
    const world = await aWorld();
    await using other = createOtherUser();
    await world.ls();
    // As if the directory had been left open to everyone.
    const projects = join(world.dir, ".claude/projects/open");
    mkdirSync(projects, { recursive: true });
    for (const directory of [world.dir, join(world.dir, ".claude"), join(world.dir, ".claude/projects"), projects])
      chmodSync(directory, 0o777);
    const transcript = join(projects, "s-1.jsonl");
    const session = await aSession(world, transcript);
    const tag = await session.delivered();
    expect(await other.run(["sh", "-c", `cat > ${transcript}`], { stdin: given(tag) })).toMatchObject({ code: 0 });
    await until(() => logOf(world).includes(`belongs to another user (uid ${other.uid})`), "the refusal in the log");
    expect((await world.status(tag)).deliveries[0]!.proof).not.toBe("transcript");
    rmSync(transcript);
    writeFileSync(transcript, given(tag));
    await isAlive(world);
  });

  test("outside the directory in which its program keeps them", async () => {
    const world = await aWorld();
    await world.ls();
    const own = join(world.dir, "own.jsonl");
    const session = await aSession(world, own);
    const tag = await session.delivered();
    writeFileSync(own, given(tag));
    const kept = join(world.dir, ".claude/projects/p/s-1.jsonl");
    mkdirSync(dirname(kept), { recursive: true });
    writeFileSync(kept, given("MSG_USER_00000000"));
    await isAlive(world);
    expect((await world.status(tag)).deliveries[0]!.proof).not.toBe("transcript");
  });
});
