import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { AgentView, InboxView, HistoryView } from "../api/schema.ts";
import { bunExec } from "../os/exec.ts";
import { until, untilGone } from "./until.ts";
import { resultOf, type ChildResult } from "./childResult.ts";

/** Tieline as a user has it: the command, a home, a tmux server and a project directory, all of them private. */
export interface World extends AsyncDisposable {
  readonly dir: string;
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
  tieline(
    args: readonly string[],
    options?: { env?: Record<string, string>; cwd?: string; stdin?: string },
  ): Promise<ChildResult>;
  /** The JSON that a command printed; throws when it did not exit with 0. */
  json<T>(args: readonly string[], options?: { env?: Record<string, string>; cwd?: string }): Promise<T>;
  ls(): Promise<AgentView[]>;
  inbox(agent: string): Promise<InboxView[]>;
  status(tag: string): Promise<HistoryView>;
  tmux(...argv: string[]): Promise<string>;
  /** A new window with that program; its pane id. */
  pane(command: readonly string[], env?: Record<string, string>): Promise<string>;
  screen(pane: string): Promise<string>;
  file(name: string, text: string): string;
  /** Trusts what the project's files can start, as its user would: `tieline trust --yes`. */
  trust(directory?: string): Promise<void>;
  daemonPid(): Promise<number>;
  /** SIGKILL, and waits until the process is gone. */
  killDaemon(): Promise<void>;
  /** Ends the server and waits until nothing answers on its socket. */
  stopTmux(): Promise<void>;
}

const ownLauncher = new URL("../../bin/tieline", import.meta.url).pathname;

export interface WorldOptions {
  /** Files of the project. With a tieline.yaml that can be read, what they can start is trusted. */
  readonly files?: Readonly<Record<string, string>>;
  /** `config.json` of the home. */
  readonly config?: object;
  /** false: the user has not said yes to anything yet. */
  readonly trusted?: boolean;
  /** Words in front of every `tieline`, such as those that run it in another network. */
  readonly through?: readonly string[];
  /** The command of another installation. */
  readonly launcher?: string;
}

export async function startWorld({
  files = {},
  config,
  trusted = true,
  through = [],
  launcher = ownLauncher,
}: WorldOptions = {}): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), "tl-"));
  const project = join(dir, "project");
  mkdirSync(project);
  const env = {
    PATH: `${dirname(launcher)}:${process.env["PATH"] ?? "/usr/bin:/bin"}`,
    HOME: dir,
    LANG: "C.UTF-8",
    TERM: "xterm-256color",
    TMUX_TMPDIR: dir,
    TIELINE_HOME: join(dir, "home"),
    TIELINE_TMUX_SOCKET: "private",
  };
  const tmuxArgv = ["tmux", "-u", "-L", "private", "-f", "/dev/null"];

  const world: World = {
    dir,
    project,
    env,

    async tieline(args, { env: more = {}, cwd = project, stdin = "" } = {}) {
      const child = Bun.spawn([...through, launcher, ...args], {
        cwd,
        env: { ...env, ...more },
        stdin: new Blob([stdin]),
        stdout: "pipe",
        stderr: "pipe",
      });
      return resultOf(child);
    },

    async json<T>(args: readonly string[], options = {}) {
      const result = await world.tieline([...args, "--json"], options);
      if (result.code !== 0)
        throw new Error(`tieline ${args.join(" ")}: exit ${result.code}\n${result.stdout}${result.stderr}`);
      return JSON.parse(result.stdout) as T;
    },

    ls: () => world.json<AgentView[]>(["ls"]),
    inbox: (agent) => world.json<InboxView[]>(["inbox", agent]),
    status: (tag) => world.json<HistoryView>(["status", tag]),

    async tmux(...argv) {
      const { code, stdout, stderr } = await bunExec([...tmuxArgv, ...argv], { env });
      if (code !== 0) throw new Error(`tmux ${argv.join(" ")}: ${stderr.trim() || `exit ${code}`}`);
      return stdout.replace(/\n$/, "");
    },

    async pane(command, more = {}) {
      const format = ["-P", "-F", "#{pane_id}"];
      const variables = Object.entries(more).flatMap(([key, value]) => ["-e", `${key}=${value}`]);
      const running = await bunExec([...tmuxArgv, "has-session", "-t", "=main"], { env });
      const verb =
        running.code === 0
          ? ["new-window", "-d", "-t", "=main:"]
          : ["new-session", "-d", "-s", "main", "-x", "120", "-y", "40"];
      return world.tmux(...verb, ...format, ...variables, "--", "env", ...command);
    },

    screen: (pane) => world.tmux("capture-pane", "-p", "-t", pane),

    file(name, text) {
      const path = join(project, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      return path;
    },

    async trust(directory = project) {
      const { code, stdout, stderr } = await world.tieline(["trust", directory, "--yes"]);
      if (code !== 0) throw new Error(`tieline trust: exit ${code}\n${stdout}${stderr}`);
    },

    async daemonPid() {
      const { pid } = JSON.parse((await world.tieline(["daemon", "status", "--json"])).stdout) as {
        pid: number | null;
      };
      if (pid === null) throw new Error("no daemon runs");
      return pid;
    },

    async killDaemon() {
      const pid = await world.daemonPid();
      process.kill(pid, "SIGKILL");
      await untilGone(pid);
    },

    async stopTmux() {
      const pid = Number((await bunExec([...tmuxArgv, "display-message", "-p", "#{pid}"], { env })).stdout);
      await bunExec([...tmuxArgv, "kill-server"], { env });
      // It answers while it shuts down, and takes a newcomer along.
      const isSilent = async (): Promise<boolean> =>
        /no server running|error connecting/.test((await bunExec([...tmuxArgv, "list-sessions"], { env })).stderr);
      // tmux 3.3a does not end while it owes output to the client of a daemon that was killed.
      await until(isSilent, "the tmux server to end", 5_000).catch(() => pid > 0 && process.kill(pid, "SIGKILL"));
      await until(isSilent, "the tmux server to be gone");
    },

    async [Symbol.asyncDispose]() {
      await world.tieline(["daemon", "stop"]);
      await world.stopTmux();
      // An agent that just called may have started another one.
      if (existsSync(join(env.TIELINE_HOME, "daemon.sock"))) await world.tieline(["daemon", "stop"]);
      rmSync(dir, { recursive: true, force: true });
    },
  };
  mkdirSync(env.TIELINE_HOME, { mode: 0o700 });
  if (config) writeFileSync(join(env.TIELINE_HOME, "config.json"), JSON.stringify(config));
  for (const [name, text] of Object.entries(files)) world.file(name, text);
  // A file that cannot be read is what some tests are about; its refusal is theirs to see.
  if (trusted && "tieline.yaml" in files) await world.tieline(["trust", "--yes"]);
  return world;
}
