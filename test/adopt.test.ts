import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentView, Output, ReceiptView } from "../src/api/schema.ts";
import { privateTmux } from "../src/testing/tmux.ts";
import { systemProcesses } from "../src/os/processes.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

interface Adopting {
  readonly found: Output<"discover">;
  readonly adopted: AgentView[];
}

describe("programs that run already", () => {
  let world: World;
  let panes: Record<"claude" | "codex" | "zed" | "shell" | "cat", string>;

  beforeAll(async () => {
    world = await startWorld({
      files: { "tieline.yaml": "team: web\nagents: {}\n", "wait.js": "process.stdin.resume();\n" },
    });
    panes = {
      claude: await world.pane([program("claude"), join(world.project, "wait.js")]),
      codex: await world.pane(["node", module("@openai/codex/bin/codex.js")]),
      zed: "",
      shell: await world.pane(["bash", "--norc"]),
      cat: await world.pane(["cat"]),
    };
    panes.zed = await world.tmux("new-session", "-d", "-P", "-F", "#{pane_id}", "-s", "agent-web-zed", "cat");
    await world.tmux("new-session", "-d", "-s", "agent-web-empty", "bash", "--norc");
    await until(async () => (await found()).length === 3, "three programs to be found");
  });
  afterAll(() => world[Symbol.asyncDispose]());

  /** A program of that name that waits. */
  function program(name: string): string {
    const path = join(world.project, name);
    symlinkSync(process.execPath, path);
    return path;
  }

  function module(path: string): string {
    return world.file(join("node_modules", path), "process.stdin.resume();\n");
  }

  async function found(): Promise<Output<"discover">> {
    return (await world.json<Adopting>(["adopt", "--all"])).found;
  }

  /** What Claude Code writes about a session, into the `.claude` of a home. */
  function register(home: string, pid: number, fields: object): void {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const procStart = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    mkdirSync(join(home, ".claude/sessions"), { recursive: true });
    writeFileSync(
      join(home, `.claude/sessions/${pid}.json`),
      JSON.stringify({ pid, procStart, cwd: world.project, ...fields }),
    );
  }

  test("are found by their process and by their session's name; shells and other programs are not", async () => {
    const seen = (await found()).map(({ pane, provider, name, foundBy }) => [pane, provider, name, foundBy.join()]);
    expect(seen).toContainEqual([panes.claude, "claude-code", "claude", "process"]);
    expect(seen).toContainEqual([panes.codex, "codex", "codex", "process"]);
    expect(seen).toContainEqual([panes.zed, "generic", "zed", "session name"]);
    expect(seen).toHaveLength(3);
  });

  test("Claude Code's own list names a session; another home's list and another server are not looked at", async () => {
    const pid = Number(await world.tmux("display-message", "-p", "-t", panes.claude, "#{pane_pid}"));
    register(join(world.dir, "other-home"), pid, { sessionId: "s-other", name: "stranger" });
    await using elsewhere = await privateTmux({
      command: [join(world.project, "claude"), join(world.project, "wait.js")],
    });
    register(world.dir, Number(await elsewhere.tmux("display-message", "-p", "-t", "%0", "#{pane_pid}")), {
      sessionId: "s-elsewhere",
      name: "elsewhere",
    });
    expect((await found()).map(({ name }) => name).toSorted()).toEqual(["claude", "codex", "zed"]);
    register(world.dir, pid, { sessionId: "s-1", name: "login fix" });
    expect((await found()).find(({ pane }) => pane === panes.claude)).toMatchObject({
      name: "login-fix",
      sessionId: "s-1",
      foundBy: ["process", "registry"],
    });
  });

  test("are shown with the transport and proof of each; without a terminal, that is all", async () => {
    const { code, stdout } = await world.tieline(["adopt", "--all"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/PANE +SESSION +PROGRAM +NAME +FOUND BY +REACHED BY +PROOF/);
    expect(stdout).toMatch(
      new RegExp(`${panes.claude} +main +claude-code +login-fix +process, registry +tmux.* +screen`),
    );
    expect(stdout).toContain("nothing was adopted");
    expect(await world.ls()).toEqual([]);
  });

  test("--yes adopts them all, and they can be written to at once", async () => {
    const { adopted } = await world.json<Adopting>(["adopt", "--all", "--yes"]);
    expect(adopted.map(({ name }) => name).toSorted()).toEqual(["codex", "login-fix", "zed"]);
    expect(adopted.find(({ name }) => name === "login-fix")).toMatchObject({
      provider: "claude-code",
      sessionId: "s-1",
    });
    const { tag } = await world.json<ReceiptView>(["send", "zed", "--wait", "delivered", "welcome"]);
    expect(await world.screen(panes.zed)).toContain(tag);
    const again = await world.json<Adopting>(["adopt", "--all", "--yes"]);
    expect(again.adopted).toEqual([]);
    expect(again.found.map(({ agent }) => agent).toSorted()).toEqual(["web:codex", "web:login-fix", "web:zed"]);
  });

  test("a single one by its session's exact name", async () => {
    await world.tmux("new-session", "-d", "-s", "solo", "cat");
    await world.tmux("new-session", "-d", "-s", "solo-2", "cat");
    const agent = await world.json<AgentView>(["adopt", "solo", "--name", "solo"]);
    expect(await world.tmux("display-message", "-p", "-t", agent.pane!, "#{session_name}")).toBe("solo");
    expect((await world.tieline(["adopt", "sol", "--name", "x"])).stderr).toContain("PANE_UNKNOWN");
    await world.tmux("split-window", "-d", "-t", "=solo-2:", "cat");
    expect((await world.tieline(["adopt", "solo-2", "--name", "x"])).stderr).toContain(
      "ADDRESS_AMBIGUOUS: session solo-2 has 2 panes",
    );
  });

  test("behind a shell that shares its terminal, the program is the agent, and the agent ends with it", async () => {
    const script = `${program("gemini")} ${join(world.project, "wait.js")}; exec cat`;
    const pane = await world.pane(["sh", "-c", script]);
    const panePid = Number(await world.tmux("display-message", "-p", "-t", pane, "#{pane_pid}"));
    const behind = async () =>
      (await systemProcesses().all()).find(({ ppid, command }) => ppid === panePid && command === "gemini");
    await until(async () => (await behind()) !== undefined, "the program behind the shell");
    const agent = await world.json<AgentView>(["adopt", pane, "--name", "wrapped"]);
    expect(agent.provider).toBe("gemini");
    process.kill((await behind())!.pid, "SIGKILL");
    await until(async () => (await behind()) === undefined, "its end");
    expect(await world.json<Output<"explain">>(["explain", "wrapped"])).toMatchObject({ state: "done" });
  });

  test("a pane that runs another tmux is not adopted", async () => {
    await using inner = await privateTmux();
    const pane = await world.pane(["-u", "TMUX", "tmux", "-S", inner.socketPath, "attach-session", "-t", "=main"]);
    await until(async () => (await inner.tmux("list-clients")) !== "", "the inner client");
    const refused = await world.tieline(["adopt", pane, "--name", "inner"]);
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining(`CONFLICT: ${pane} runs another tmux`)]);
    // From inside, the inner server is the one that is meant.
    const env = { TIELINE_TMUX_SOCKET: "", TMUX: `${inner.socketPath},1,0` };
    const agent = await world.json<AgentView>(["adopt", "%0", "--name", "inside"], { env });
    const { tag } = await world.json<ReceiptView>(["send", agent.name, "--wait", "delivered", "hello inside"]);
    expect(await inner.tmux("capture-pane", "-p", "-t", "%0")).toContain(tag);
    await world.json(["rm", "inside"]);
    await world.tieline(["daemon", "stop"]);
  });

  test.each([
    [["adopt"], "<pane|session> is missing"],
    [["adopt", "%1"], "--name NAME is missing"],
    [["adopt", "%1", "--all"], "--all finds panes and names by itself"],
  ])("tieline %j is refused: %s", async (args, why) => {
    const { code, stderr } = await world.tieline(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
  });
});
