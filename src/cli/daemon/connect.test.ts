import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import type { TielineError } from "../../model/errors.ts";
import { commandLine, type CommandLine } from "../../testing/commandLine.ts";
import { fakeDaemon, type FakeDaemon } from "../../testing/fakeDaemon.ts";
import { callerOf, connect, userTokenIn } from "./connect.ts";
import { daemonEnvironment, startDaemon } from "./start.ts";
import { agent, daemonStatus, receipt } from "../commands/views.fixture.ts";

let tieline: CommandLine;
const open: (FakeDaemon | { [Symbol.asyncDispose](): Promise<void> })[] = [];
beforeEach(() => {
  tieline = commandLine();
});
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
  tieline[Symbol.dispose]();
});

function daemonAt(socket: string): FakeDaemon {
  const daemon = fakeDaemon(socket, {
    send: () => receipt(),
    ls: () => [agent()],
    cancel: () => receipt(),
    daemonStatus: () => daemonStatus(),
  });
  open.push(daemon);
  return daemon;
}

const thrownBy = (promise: Promise<unknown>): Promise<TielineError> =>
  promise.then(
    () => Promise.reject(new Error("it did not fail")),
    (error: unknown) => error as TielineError,
  );

describe("the caller", () => {
  test("says what the environment knows", async () => {
    const env = {
      TIELINE_TEAM: "web",
      CLAUDECODE: "1",
      CLAUDE_CODE_SESSION_ID: "s-1",
      TMUX: "/tmp/tmux-0/default,4711,2",
      TMUX_PANE: "%14",
      EDITOR: "vi",
    };
    expect(await callerOf(tieline.home, env)).toEqual({
      pid: process.pid,
      cwd: process.cwd(),
      team: "web",
      sessionId: "s-1",
      pane: "%14",
      tmuxServer: "/tmp/tmux-0/default",
      tmuxSocket: "/tmp/tmux-0/default",
      agentVariables: ["CLAUDECODE", "CLAUDE_CODE_SESSION_ID"],
    });
  });

  test("is the user by the token in the home, and an agent by its own", async () => {
    writeFileSync(tieline.home.userToken, "p-secret\n", { mode: 0o600 });
    expect(await callerOf(tieline.home, {})).toMatchObject({ userToken: "p-secret", agentVariables: [] });
    const asAgent = await callerOf(tieline.home, { TIELINE_TOKEN: "a-secret", CODEX_THREAD_ID: "t-1" });
    expect(asAgent).toMatchObject({ token: "a-secret", sessionId: "t-1" });
    expect(asAgent).not.toHaveProperty("userToken");
  });

  test("--team wins over TIELINE_TEAM, in the whole command", async () => {
    const daemon = daemonAt(tieline.home.socket);
    await tieline.run(["ls"], { env: { TIELINE_TEAM: "web" } });
    await tieline.run(["ls", "--team", "api"], { env: { TIELINE_TEAM: "web" } });
    expect(daemon.calls.map(({ caller }) => caller.team)).toEqual(["web", "api"]);
  });
});

describe("a call that finds no daemon", () => {
  test("starts one and is made again, with the same key and the token that the new daemon wrote", async () => {
    let daemon: FakeDaemon | undefined;
    const start = async (): Promise<void> => {
      writeFileSync(tieline.home.userToken, "fresh");
      daemon = daemonAt(tieline.home.socket);
    };
    const client = connect(tieline.home, {}, { start, token: userTokenIn(tieline.home) });
    expect(await client.call("send", { to: "engineer", body: "x", key: "k" })).toMatchObject({ tag: receipt().tag });
    await client.call("ls", {});
    expect(daemon!.calls).toMatchObject([
      { input: { key: "k" }, caller: { userToken: "fresh" } },
      { caller: { userToken: "fresh" } },
    ]);
  });

  /** A daemon that dies after it has read the request. */
  function dyingAt(socket: string): Promise<Server> {
    const server = createServer((connection) =>
      connection.once("data", () => server.close(() => {}) && connection.destroy()),
    );
    return new Promise((resolve) => server.listen(socket, () => resolve(server)));
  }

  test.each([
    ["send", { to: "engineer", body: "x", key: "k" }, true],
    ["ls", {}, true],
    ["inbox", {}, true],
    ["cancel", { tag: "MSG_A_00000000" }, false],
  ] as const)("%s is repeated after a lost answer only if that is harmless", async (name, input, repeated) => {
    await dyingAt(tieline.home.socket);
    let starts = 0;
    const start = async (): Promise<void> => {
      starts++;
      daemonAt(tieline.home.socket).answers.inbox = () => [];
    };
    const client = connect(tieline.home, {}, { start });
    const outcome = await client.call(name, input as never).then(
      () => "answered",
      (error: TielineError) => error.code,
    );
    expect([outcome, starts]).toEqual(repeated ? ["answered", 1] : ["DAEMON_UNAVAILABLE", 0]);
  });

  test("gives up when no daemon stays", async () => {
    let starts = 0;
    const client = connect(tieline.home, {}, { start: async () => void starts++ });
    expect((await thrownBy(client.call("ls", {}))).code).toBe("DAEMON_UNAVAILABLE");
    expect(starts).toBe(3);
  });

  test("never starts one from inside a sandbox", async () => {
    const { code, stderr } = await tieline.run(["send", "engineer", "x"], { env: { TIELINE_SANDBOX: "1" } });
    expect(code).toBe(5);
    expect(stderr).toStartWith(
      "error DAEMON_UNAVAILABLE: the daemon does not answer, and this sandbox may not start one\n",
    );
  });
});

describe("starting", () => {
  function entry(source: string): string[] {
    const path = join(tieline.dir, "entry.ts");
    writeFileSync(path, source);
    return [process.execPath, path];
  }

  test("waits for ready; the daemon has its own session, a clean environment and its log as stderr", async () => {
    const env = {
      ...tieline.env,
      TIELINE_TOKEN: "t",
      TIELINE_TEAM: "web",
      TMUX: "x",
      TMUX_PANE: "%1",
      CLAUDECODE: "1",
      TIELINE_TMUX_SOCKET: "tl",
      LC_ALL: "C",
      XDG_DATA_HOME: "/x",
      AWS_SECRET: "y",
    };
    const source = `
      const stat = await Bun.file("/proc/self/stat").text().catch(() => "");
      const session = Number(stat.split(") ").at(-1).split(" ")[3]);
      await Bun.write("seen.json", JSON.stringify({ env: process.env, cwd: process.cwd(), pid: process.pid, session }));
      console.error("a line for the log");
      console.log("ready");`;
    await startDaemon(tieline.home, env, entry(source));
    const seen = JSON.parse(readFileSync(join(tieline.dir, "seen.json"), "utf8"));
    expect(Object.keys(seen.env).toSorted()).toEqual([
      "BUN_RUNTIME_TRANSPILER_CACHE_PATH",
      "HOME",
      "LANG",
      "LC_ALL",
      "PATH",
      "TIELINE_HOME",
      "TIELINE_TMUX_SOCKET",
      "XDG_DATA_HOME",
    ]);
    expect(seen.cwd).toBe(tieline.home.root);
    if (process.platform === "linux") expect(seen.session).toBe(seen.pid);
    expect(readFileSync(tieline.home.log, "utf8")).toBe("a line for the log\n");
  });

  test("taken: another one won, and is waited for", async () => {
    const started = startDaemon(tieline.home, tieline.env, entry('console.log("taken");'));
    daemonAt(tieline.home.socket);
    await started;
  });

  test.each([
    [
      "its own error",
      `console.log(JSON.stringify({error:{code:"STORE_CORRUPT",message:"mailbox.db is ` +
        `damaged",remedy:"restore it"}}));`,
      "STORE_CORRUPT",
      /mailbox.db is damaged/,
    ],
    ["silence", "", "DAEMON_UNAVAILABLE", /exited before it was ready/],
    ["nonsense", 'console.log("hello");', "DAEMON_UNAVAILABLE", /it said "hello"/],
  ])("a start that fails with %s says so", async (_name, source, code, message) => {
    const error = await thrownBy(startDaemon(tieline.home, tieline.env, entry(source)));
    expect(error.code as string).toBe(code);
    expect(error.message).toMatch(message);
  });

  test("a home that cannot be made is an error about the disk", async () => {
    writeFileSync(join(tieline.dir, "file"), "");
    const home = {
      ...tieline.home,
      root: join(tieline.dir, "file", "home"),
      log: join(tieline.dir, "file", "home", "daemon.log"),
    };
    expect((await thrownBy(startDaemon(home, tieline.env, entry("")))).code).toBe("STORE_UNAVAILABLE");
  });

  test("a home that is not there yet is made, for its owner only", async () => {
    const root = join(tieline.dir, "new", "home");
    const home = { ...tieline.home, root, log: join(root, "daemon.log") };
    mkdirSync(join(tieline.dir, "new"));
    await startDaemon(home, tieline.env, entry('console.log("ready");'));
    expect((await Bun.file(root).stat()).mode & 0o777).toBe(0o700);
  });

  test("the variables of the caller stay with the caller", () => {
    expect(
      daemonEnvironment({
        TIELINE_SANDBOX: "1",
        TIELINE_TOKEN: "t",
        TIELINE_HOME: "/h",
        CODEX_THREAD_ID: "x",
        OTHER: undefined,
      }),
    ).toEqual({ TIELINE_HOME: "/h" });
  });
});
