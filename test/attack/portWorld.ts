/** A home with a session whose mail waits, and programs that may reach its port and nothing else. */
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient, type Client } from "../../src/client/client.ts";
import { homeOf, type Home } from "../../src/client/home.ts";
import type { Caller } from "../../src/api/schema.ts";
import { callerOf } from "../../src/cli/daemon/connect.ts";
import { lackOfBubblewrap, type Lack } from "../../src/testing/needing.ts";
import { createOtherUser, lackOfOtherUser } from "../../src/testing/otherUser.ts";
import { until } from "../../src/testing/until.ts";
import { startWorld, type World } from "../../src/testing/world.ts";
import { resultOf } from "../../src/testing/childResult.ts";

export const session = "5e5510a1-0000-4000-8000-000000000001";
export const secret = "SECRET-FOR-ANA";

export interface PortWorld extends AsyncDisposable {
  readonly world: World;
  readonly home: Home;
  readonly port: number;
  readonly daemonPid: number;
  /** What every user of the machine can learn about ana from `ps` and tmux. */
  readonly ana: { readonly pid: number; readonly pane: string; readonly tmuxSocket: string };
  readonly token: string;
  /** The user, on the socket. */
  readonly user: Client;
  /** An urgent message that waits for ana. */
  readonly waiting: string;
}

export async function startPortWorld(): Promise<PortWorld> {
  const world = await startWorld({ config: { delivery: { copyMode: "hold" } } });
  // As in a directory that every user may enter: only the home itself keeps others out.
  chmodSync(world.dir, 0o755);
  const pane = await world.pane(["cat"]);
  await world.json(["adopt", pane, "--name", "ana", "--provider", "generic"]);
  const [pid, tmuxSocket] = (await world.tmux("display-message", "-t", pane, "-p", "#{pane_pid} #{socket_path}")).split(
    " ",
  );
  const home = homeOf(world.env);
  const start = { session_id: session, hook_event_name: "SessionStart", source: "startup" };
  const env = { ...world.env, TMUX: `${tmuxSocket},1,0`, TMUX_PANE: pane };
  await Bun.spawn([join(home.root, "hooks", "hook"), "claude-code", "SessionStart"], {
    env,
    stdin: new Blob([JSON.stringify(start)]),
  }).exited;
  await until(async () => (await world.ls())[0]?.sessionId === session, "the session to be known");
  await world.tmux("copy-mode", "-t", pane);
  const { tag } = await world.json<{ tag: string }>(["send", "ana", "--when", "interrupt", secret]);
  await until(() => existsSync(join(home.root, "hooks", "mail", session)), "the mail to wait");
  const caller: Caller = { ...(await callerOf(home, world.env)), cwd: world.project };
  return {
    world,
    home,
    port: Number(readFileSync(home.portFile, "utf8")),
    daemonPid: await world.daemonPid(),
    ana: { pid: Number(pid), pane, tmuxSocket: tmuxSocket! },
    token: readFileSync(home.userToken, "utf8").trim(),
    user: createClient({ socket: home.socket }, caller),
    waiting: tag,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

/** A program that is not the user's own, or not allowed to be. */
export interface Intruder extends AsyncDisposable {
  run(
    argv: readonly string[],
    stdin?: string,
  ): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>;
}

export interface IntruderKind {
  readonly name: string;
  readonly lack: () => Lack;
  readonly enter: (world: World) => Intruder;
}

const asOtherUser: IntruderKind = {
  name: "another user",
  lack: lackOfOtherUser,
  enter() {
    const other = createOtherUser();
    return {
      run: (argv, stdin = "") => other.run(argv, { stdin, timeoutMs: 60_000 }),
      [Symbol.asyncDispose]: () => other[Symbol.asyncDispose](),
    };
  },
};

/** The same user, but with nothing of the home and no process of others visible. */
const inBubblewrap: IntruderKind = {
  name: "a process in bubblewrap with the host's network",
  lack: lackOfBubblewrap,
  enter({ dir }) {
    const walls = [
      "bwrap",
      "--ro-bind",
      "/",
      "/",
      "--tmpfs",
      dir,
      "--dev",
      "/dev",
      "--proc",
      "/proc",
      "--unshare-pid",
      "--unshare-ipc",
      "--die-with-parent",
    ];
    return {
      async run(argv, stdin = "") {
        const child = Bun.spawn([...walls, ...argv], {
          cwd: "/",
          env: { PATH: process.env["PATH"]! },
          stdin: new Blob([stdin]),
          stdout: "pipe",
          stderr: "pipe",
          timeout: 60_000,
        });
        return resultOf(child);
      },
      [Symbol.asyncDispose]: async () => undefined,
    };
  },
};

export const intruders: readonly IntruderKind[] = [asOtherUser, inBubblewrap];

export interface CurlAnswer {
  readonly status: number;
  readonly body: string;
}

/** One request by curl, as the intruder. */
export async function curl(
  intruder: Intruder,
  url: string,
  { headers = {}, body }: { headers?: Readonly<Record<string, string>>; body?: string } = {},
): Promise<CurlAnswer> {
  const argv = [
    "curl",
    "-s",
    "-m",
    "20",
    "-w",
    "\n%{http_code}",
    ...Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]),
  ];
  const { stdout, stderr, code } = await intruder.run(
    [...argv, ...(body === undefined ? [] : ["--data-binary", "@-"]), url],
    body,
  );
  const end = stdout.lastIndexOf("\n");
  const status = Number(stdout.slice(end + 1));
  if (code !== 0 && status === 0) throw new Error(`curl ${url}: exit ${code} ${stderr}`);
  return { status, body: stdout.slice(0, end) };
}

export const callerHeaders = (caller: Caller): Record<string, string> => ({
  "x-tieline-caller": encodeURIComponent(JSON.stringify(caller)),
});

export const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;
