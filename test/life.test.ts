import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentView, Output, ReceiptView } from "../src/api/schema.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

/** A program that shows what it was given, and then waits for input like any other. */
const printing = (file: string): string => `sh -c 'printf "%s\\n" "$@" > ${file}.argv; env > ${file}.env; exec cat' sh`;

const project = `team: web
agents:
  ana: { command: [cat], role: coder }
  bob: { command: [cat] }
  loud: { command: ${JSON.stringify(printing("loud"))}, prompt: "Be loud.", env: { GREETING: hello } }
  claude: { provider: claude-code, command: ${JSON.stringify(printing("claude"))}, prompt: "Be Claude." }
  engineer: { env: { PATH: /nonexistent } }
  missing: { command: [no-such-program] }
  ending: { command: ["true"] }
  prompt: { command: bash -i }
`;

/** `session:window` of each pane. */
async function windows(world: World): Promise<string[]> {
  return (await world.tmux("list-panes", "-a", "-F", "#{session_name}:#{window_name}")).split("\n");
}

describe("a life in tmux", () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ files: { "tieline.yaml": project }, config: { spawn: { readyTimeoutMs: 2_000 } } });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const spawn = (...args: string[]): Promise<AgentView> => world.json<AgentView>(["spawn", ...args]);
  const agent = async (name: string): Promise<AgentView> => (await world.ls()).find((one) => one.name === name)!;
  const written = (name: string): string => readFileSync(join(world.project, name), "utf8");

  test("spawn: a window named by the role, in the session of the team, beside a shell", async () => {
    expect(await spawn("ana")).toMatchObject({
      name: "ana",
      team: "web",
      role: "coder",
      state: "idle",
      profile: "ana",
    });
    expect(await windows(world)).toEqual(["web:shell", "web:coder"]);
  });

  test("a second one of the same profile is an instance, and --task names its window", async () => {
    expect(await spawn("ana", "--task", "wish-42")).toMatchObject({ name: "ana-2" });
    expect(await windows(world)).toContain("web:wish-42");
    expect(await spawn("ana", "--name", "eve")).toMatchObject({ name: "eve" });
    const taken = await world.tieline(["spawn", "ana", "--name", "eve"]);
    expect([taken.code, taken.stderr]).toEqual([
      3,
      expect.stringContaining("error CONFLICT: web:eve is already running"),
    ]);
  });

  test("each gets its own mail and nothing of the others", async () => {
    const { tag } = await world.json<ReceiptView>(["send", "ana-2", "--wait", "delivered", "for the second"]);
    const panes = new Map((await world.ls()).map((one) => [one.name, one.pane!]));
    expect(await world.screen(panes.get("ana-2")!)).toContain(tag);
    for (const other of ["ana", "eve"]) expect(await world.screen(panes.get(other)!)).not.toContain(tag);
  });

  test("a draft in a program that was started stays the user's", async () => {
    const pane = (await spawn("ana", "--name", "dora")).pane!;
    await world.tmux("send-keys", "-t", pane, "-l", "half a thou");
    await until(async () => (await agent("dora")).draft, "the draft to be seen");
    const { tag } = await world.json<ReceiptView>(["send", "dora", "hello"]);
    const delivery = async () => (await world.status(tag)).deliveries[0]!;
    await until(async () => (await delivery()).reason?.includes("has a draft") === true, "the hold");
    await world.tmux("send-keys", "-t", pane, "C-u");
    await until(async () => (await delivery()).state === "delivered", "the delivery");
    expect(await world.screen(pane)).not.toContain("half a thou");
    await world.json(["kill", "dora"]);
    await world.json(["rm", "dora"]);
  });

  test("the program gets its environment, arguments and directory, and no trace of an agent around it", async () => {
    await spawn("loud", "--args", "one 'two words'", "--cwd", world.dir);
    await until(() => existsSync(join(world.dir, "loud.env")), "the environment");
    const env = new Map(
      readFileSync(join(world.dir, "loud.env"), "utf8")
        .split("\n")
        .map((line) => line.split("=", 2) as [string, string]),
    );
    expect(env.get("GREETING")).toBe("hello");
    expect(env.get("TIELINE_AGENT")).toBe("loud");
    expect(env.get("TIELINE_TEAM")).toBe("web");
    expect(env.has("CLAUDECODE")).toBeFalse();
    expect(readFileSync(join(world.dir, "loud.argv"), "utf8")).toBe("one\ntwo words\n");
    const token = env.get("TIELINE_TOKEN")!;
    expect(token.length).toBeGreaterThan(20);
    expect(argumentsOfAll().filter((line) => line.includes(token))).toEqual([]);
  });

  test("variables of an agent around tmux do not reach the one that is started in it", async () => {
    const ofAnother = [
      ...[
        "CLAUDECODE",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_CODE_MESSAGING_SOCKET",
        "CLAUDE_PID",
        "CLAUDE_PROJECT_DIR",
        "CODEX_THREAD_ID",
        "CODEX_SANDBOX",
        "CODEX_TOOL_CALL_ID",
      ],
      ...[
        "GEMINI_CLI",
        "OPENCODE",
        "TIELINE_TOKEN",
        "TIELINE_TEAM",
        "TIELINE_AGENT",
        "TIELINE_SANDBOX",
        "SWARM_WORKSPACE",
        "SWARM_TOPOLOGY",
      ],
    ];
    for (const name of ofAnother) await world.tmux("set-environment", "-g", name, "of another agent");
    await spawn("loud", "--name", "quiet");
    await until(() => existsSync(join(world.project, "loud.env")), "the environment");
    expect(
      written("loud.env")
        .split("\n")
        .filter((line) => line.endsWith("of another agent")),
    ).toEqual([]);
    for (const name of ofAnother) await world.tmux("set-environment", "-g", "-u", name);
  });

  test("in a split window only the agent's own pane is written to, and only it dies", async () => {
    const pane = (await agent("eve")).pane!;
    const beside = await world.tmux("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", pane, "cat");
    await world.tmux("select-pane", "-t", beside);
    const { tag } = await world.json<ReceiptView>(["send", "eve", "--wait", "delivered", "not for the neighbour"]);
    expect(await world.screen(pane)).toContain(tag);
    expect(await world.screen(beside)).not.toContain(tag);
    expect(await world.json<AgentView>(["kill", "eve"])).toMatchObject({ state: "suspended", pane: null });
    expect((await world.tmux("list-panes", "-a", "-F", "#{pane_id}")).split("\n")).toContain(beside);
    expect(await world.tmux("list-panes", "-a", "-F", "#{pane_id}")).not.toContain(pane);
  });

  test("stop ends the program; what it takes to start it again is kept, for a command or for mail", async () => {
    const before = await agent("ana-2");
    expect(await world.json<AgentView>(["stop", "ana-2"])).toMatchObject({
      id: before.id,
      state: "suspended",
      pane: null,
    });
    expect(await windows(world)).not.toContain("web:wish-42");
    const { tag } = await world.json<ReceiptView>(["send", "ana-2", "--wait", "delivered", "wake up"]);
    const after = await agent("ana-2");
    expect(after).toMatchObject({ id: before.id, state: "idle" });
    expect(await world.screen(after.pane!)).toContain(tag);
    expect(await windows(world)).toContain("web:wish-42");
  });

  test("restart is the same agent in a new pane", async () => {
    const before = await agent("ana");
    const after = await world.json<AgentView>(["restart", "ana"]);
    expect(after.id).toBe(before.id);
    expect(after.pane).not.toBe(before.pane);
    expect(after.state).toBe("idle");
  });

  test("a conversation is begun under an id of ours, and gone on with once the program has kept it", async () => {
    const begun = await spawn("claude", "--model", "opus", "--permissions", "auto");
    expect(begun.sessionId).toMatch(/^[0-9a-f-]{36}$/);
    await until(() => existsSync(join(world.project, "claude.argv")), "the first start");
    expect(written("claude.argv")).toStartWith(
      `--session-id\n${begun.sessionId}\n--permission-mode\nauto\n--model\nopus\n--append-system-prompt\nBe Claude.\n`,
    );
    expect(written("claude.env")).toContain("CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION=false\n");
    expect(readFileSync(join(world.env["TIELINE_HOME"]!, "prompts", `${begun.id}.md`), "utf8")).toStartWith(
      "Be Claude.\n\nYou are `claude`",
    );

    expect(await world.json<AgentView>(["kill", "claude"])).toMatchObject({
      state: "suspended",
      sessionId: begun.sessionId,
    });
    await world.json(["resume", "claude"]);
    await until(() => written("claude.argv").startsWith(`--session-id\n${begun.sessionId}\n`), "the arguments");

    await world.json(["kill", "claude"]);
    mkdirSync(join(world.dir, ".claude/projects/-p"), { recursive: true });
    writeFileSync(join(world.dir, `.claude/projects/-p/${begun.sessionId}.jsonl`), "{}\n");
    await world.json(["resume", "claude"]);
    await until(() => written("claude.argv").startsWith(`--resume\n${begun.sessionId}\n`), "the arguments");
    expect(written("claude.argv")).toContain("--model\nopus\n");

    await world.json(["kill", "claude"]);
    await spawn("claude", "--resume", "0d5f0b35-9d7b-4b1b-8f37-3a4b0d9f3c11");
    await until(
      () => written("claude.argv").startsWith("--resume\n0d5f0b35-9d7b-4b1b-8f37-3a4b0d9f3c11\n"),
      "the arguments",
    );
    expect((await world.tieline(["spawn", "loud", "--name", "other", "--resume", "x"])).stderr).toContain(
      "cannot resume a conversation of generic",
    );
    await world.json(["kill", "claude"]);
  });

  test("after tmux is gone, ls tells the truth and resume --all brings the team back", async () => {
    const live = (await world.ls()).filter((one) => one.pane !== null).map((one) => one.name);
    expect(live).toEqual(["ana", "ana-2", "loud", "quiet"]);
    await world.stopTmux();
    await until(async () => (await world.ls()).every((one) => ["gone", "suspended"].includes(one.state)), "the truth");
    await world.json(["kill", "loud"]);
    const { resumed, failed } = await world.json<Output<"resume">>(["resume", "--all"]);
    expect(failed).toEqual([]);
    expect(resumed.map((one) => one.name)).toEqual(["ana", "ana-2", "eve", "loud", "quiet", "claude"]);
    const { tag } = await world.json<ReceiptView>(["send", "ana", "--wait", "delivered", "good morning"]);
    expect(await world.screen((await agent("ana")).pane!)).toContain(tag);
  });

  test("attach prints where to go when there is no terminal", async () => {
    const { pane } = await agent("ana");
    const socket = await world.tmux("display-message", "-p", "#{socket_path}");
    expect((await world.tieline(["attach", "ana"])).stdout).toBe(
      `tmux -S ${socket} select-window -t ${pane} ';' select-pane -t ${pane} ';' attach-session -t =web:\n`,
    );
    expect((await world.tieline(["attach"])).stdout).toBe(`tmux -S ${socket} attach-session -t =web:\n`);
  });

  test("inside tmux it moves the client, inside another server it refuses to nest", async () => {
    const { pane } = await agent("ana");
    const socket = await world.tmux("display-message", "-p", "#{socket_path}");
    const inside = { TMUX: `${socket},1,0`, TMUX_PANE: (await agent("ana-2")).pane! };
    const moving = await world.json<Output<"place"> & { command: string[] }>(["attach", "ana"], { env: inside });
    expect(moving.command).toEqual(["tmux", "-S", socket, "switch-client", "-t", pane!]);
    expect(moving.current).toBe("web");
    const nested = await world.tieline(["attach", "ana"], { env: { TMUX: "/tmp/elsewhere,1,0" } });
    expect([nested.code, nested.stderr]).toEqual([3, expect.stringContaining("detach first")]);
  });

  test("read --follow prints what is added, and ends with the pane", async () => {
    const { pane } = await agent("ana-2");
    await world.tmux("send-keys", "-t", pane!, "first", "Enter");
    await until(async () => (await world.screen(pane!)).includes("first\nfirst"), "the echo");
    const following = Bun.spawn([join(import.meta.dir, "../bin/tieline"), "read", "ana-2", "--follow"], {
      cwd: world.project,
      env: world.env,
      stdout: "pipe",
    });
    let text = "";
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of following.stdout) text += decoder.decode(chunk, { stream: true });
    })();
    await until(() => text.includes("first\nfirst\n"), "what stood there");
    await world.tmux("send-keys", "-t", pane!, "second", "Enter");
    await until(() => text.includes("second\nsecond\n"), "what was added");
    expect(text.match(/first/g)).toHaveLength(2);
    await world.json(["kill", "ana-2"]);
    expect(await following.exited).toBe(0);
    await reading;
  });

  test("interrupt sends the program's own key", async () => {
    world.file("trap.sh", "trap 'echo interrupted' INT\nwhile :; do sleep 0.1; done\n");
    const pane = await world.pane(["sh", join(world.project, "trap.sh")]);
    await world.json(["adopt", pane, "--name", "busy"]);
    await world.json(["interrupt", "busy"]);
    await until(async () => (await world.screen(pane)).includes("interrupted"), "the interrupt");
    expect(await world.json<AgentView>(["kill", "busy"])).toMatchObject({ state: "gone" });
    const again = await world.json<Output<"resume">>(["resume", "bob"]).catch(String);
    expect(again).toContain("ADDRESS_UNKNOWN");
  });

  test.each([
    [["spawn", "missing"], 4, "SPAWN_FAILED: no-such-program is not installed"],
    [["spawn", "engineer"], 4, "SPAWN_FAILED: claude is not installed"],
    [["spawn", "ending"], 4, "SPAWN_FAILED: "],
    [["spawn", "prompt"], 4, "SPAWN_FAILED: prompt is a bare shell (bash -i); text typed there would run as commands"],
    [["spawn", "bob", "--cwd", "/nonexistent"], 4, "SPAWN_FAILED: bob works in /nonexistent, which is not a directory"],
    [["spawn", "bob", "--provider", "none-such"], 2, "USAGE: there is no provider none-such"],
    [["spawn", "anna"], 3, 'ADDRESS_UNKNOWN: there is no profile "anna"; did you mean "ana"?'],
    [["spawn", "bob", "--args", "'open"], 2, "USAGE: --args: a ' is not closed"],
    [["stop", "bob"], 3, "ADDRESS_UNKNOWN: bob is not an agent that was started or adopted"],
    [["read", "bob"], 3, "ADDRESS_UNKNOWN: bob is not an agent that was started or adopted"],
    [["rm", "bob"], 3, "ADDRESS_UNKNOWN: bob is not an agent that was started or adopted"],
    [["note", "--agent", "bob", "idle"], 3, "ADDRESS_UNKNOWN: bob is not an agent that was started or adopted"],
    [["attach", "user"], 3, "ADDRESS_UNKNOWN: user is the user, and no program"],
    [["answer", "ana"], 3, "CONFLICT: ana asks nothing: it is idle"],
    [["resume"], 2, "USAGE: name agents, or give --all"],
    [["attach", "--team", "empty"], 3, "PANE_UNKNOWN: there is no tmux session empty"],
  ] as const)("tieline %j exits with %i, %s", async (args, code, error) => {
    const result = await world.tieline([...args]);
    expect(result.stderr.split("\n")[0]).toStartWith(`error ${error}`);
    expect(result.code).toBe(code);
    expect((await world.ls()).map((one) => one.name)).not.toContain("bob");
  });

  test("an agent that cannot start as declared is listed with the reason, however it was to be started", async () => {
    const rowOf = async (name: string) => (await world.ls()).find((one) => one.name === name);
    for (const way of ["spawn", "up"]) {
      for (const [name, reason] of [
        ["missing", "no-such-program is not installed"],
        ["ending", "exited with code"],
      ] as const) {
        expect((await world.tieline([way, name])).code).toBe(4);
        expect(await rowOf(name)).toMatchObject({ state: "gone", reason: expect.stringContaining(reason) });
        await world.json(["rm", name]);
      }
    }
    expect((await world.tieline(["spawn", "ending", "--name", "other"])).code).toBe(4);
    expect(await rowOf("other")).toMatchObject({ state: "gone", exit: { code: expect.any(Number) } });
    expect((await world.tieline(["spawn", "missing", "--name", "another", "--model", "x"])).code).toBe(4);
    expect(await rowOf("another")).toBeUndefined();
  });

  test("up starts whom it can, and says whom it could not", async () => {
    const { code, stdout, stderr } = await world.tieline(["up", "missing", "ana"]);
    expect([code, stdout]).toEqual([4, expect.stringMatching(/ana/)]);
    expect(stderr).toStartWith("error SPAWN_FAILED: missing: no-such-program is not installed");
  });
});

/** The arguments of every process that this test may read. */
function argumentsOfAll(): string[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      return [readFileSync(`/proc/${pid}/cmdline`, "utf8")];
    } catch {
      return [];
    }
  });
}
