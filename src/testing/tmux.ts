import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bunExec } from "../os/exec.ts";
import { until } from "./until.ts";

/** A tmux server of the test's own: its own socket, home and configuration, nothing inherited. */
export interface PrivateTmux extends AsyncDisposable {
  socketPath: string;
  /** An empty directory that goes away with the server. */
  dir: string;
  env: Record<string, string>;
  /** Runs one tmux command as a process and returns what it printed; throws when tmux refuses. */
  tmux(...argv: string[]): Promise<string>;
  /** Ends the server and waits until nothing answers on its socket. */
  kill(): Promise<void>;
}

export interface PrivateTmuxOptions {
  /** What runs in the first pane, `%0`. */
  command?: string[];
  /** Name of the first session; null starts no server at all. */
  session?: string | null;
}

export async function privateTmux(options: PrivateTmuxOptions = {}): Promise<PrivateTmux> {
  const { command = ["cat"], session = "main" } = options;
  const dir = await mkdtemp(join(tmpdir(), "tl-tmux-"));
  const socketPath = join(dir, "sock");
  const env = { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: dir, TERM: "xterm-256color", LANG: "C.UTF-8" };

  async function tmux(...argv: string[]): Promise<string> {
    const { code, stdout, stderr } = await bunExec(["tmux", "-u", "-S", socketPath, "-f", "/dev/null", ...argv], {
      env,
    });
    if (code !== 0) throw new Error(`tmux ${argv[0]}: ${stderr.trim() || `exit ${code}`}`);
    return stdout.replace(/\n$/, "");
  }

  async function kill(): Promise<void> {
    await bunExec(["tmux", "-S", socketPath, "kill-server"], { env });
    await silent(socketPath, env);
  }

  if (session !== null) {
    // `env` keeps a one-word command from being run by a shell.
    await tmux("new-session", "-d", "-s", session, "-x", "100", "-y", "30", "env", ...command);
  }
  return {
    socketPath,
    dir,
    env,
    tmux,
    kill,
    async [Symbol.asyncDispose]() {
      const leaked = await clients(socketPath, env);
      await kill();
      await rm(dir, { recursive: true, force: true });
      if (leaked.length > 0) throw new Error(`control clients left open: ${leaked.join(", ")}`);
    },
  };
}

/** A user at a terminal: a tmux client with a real terminal, which is a pane of a second private server. */
export interface User extends AsyncDisposable {
  /** Presses keys at that terminal, by tmux's key names. */
  press(...keys: string[]): Promise<void>;
  detach(): Promise<void>;
}

export async function attachUser(server: Pick<PrivateTmux, "tmux" | "socketPath">, session: string): Promise<User> {
  const channel = "user-attached";
  await server.tmux("set-hook", "-g", "client-attached", `wait-for -S ${channel}`);
  const command = ["env", "-u", "TMUX", "tmux", "-S", server.socketPath, "attach-session", "-t", `=${session}`];
  const terminal = await privateTmux({ command });
  await server.tmux("wait-for", channel);
  await server.tmux("set-hook", "-gu", "client-attached");
  return {
    async press(...keys) {
      await terminal.tmux("send-keys", "-t", "%0", ...keys);
    },
    async detach() {
      // `-s` would also detach our watcher; tmux 3.3a can crash when that leaves while another control client connects.
      const format = "#{?client_control_mode,,#{client_name}}";
      const names = (await server.tmux("list-clients", "-t", `=${session}`, "-F", format)).split("\n").filter(Boolean);
      for (const name of names) await server.tmux("detach-client", "-t", name);
    },
    [Symbol.asyncDispose]: () => terminal[Symbol.asyncDispose](),
  };
}

/** A test that leaves a control client attached has forgotten to close something. */
async function clients(socketPath: string, env: Record<string, string>): Promise<string[]> {
  const format = "#{?client_control_mode,#{client_pid},}";
  const { stdout } = await bunExec(["tmux", "-S", socketPath, "list-clients", "-F", format], { env });
  return stdout.split("\n").filter(Boolean);
}

/** The server answers while it shuts down. Its process id proves nothing: it stays as a zombie until init reaps it. */
async function silent(socketPath: string, env: Record<string, string>): Promise<void> {
  await until(async () => {
    const { stderr } = await bunExec(["tmux", "-S", socketPath, "list-sessions"], { env });
    return /no server running|error connecting/.test(stderr);
  }, `the tmux server at ${socketPath} to end`);
}
