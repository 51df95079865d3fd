import { existsSync } from "node:fs";
import { createClient } from "../../client/client.ts";
import type { Home } from "../../client/home.ts";
import { bunExec } from "../../tmux/exec.ts";
import { systemProcesses } from "../../tmux/process.ts";
import { callerOf } from "../connect.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export async function runs(home: Home): Promise<boolean> {
  if (!existsSync(home.socket)) return false;
  const client = createClient({ socket: home.socket }, {});
  return client.call("daemonStatus", {}).then(
    () => true,
    () => false,
  );
}

/** Ends the demo's own daemon and its own tmux server; both are addressed by their own sockets. */
export async function end(home: Home, env: Environment, tmuxName: string): Promise<void> {
  if (await runs(home)) {
    const client = createClient({ socket: home.socket }, await callerOf(home, env));
    const { pid } = await client.call("daemonStatus", {});
    await client.call("daemonStop", {});
    await untilGone(pid);
  }
  const definedEnv = Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
  await bunExec(["tmux", "-L", tmuxName, "kill-server"], { env: definedEnv });
}

async function untilGone(pid: number): Promise<void> {
  const processes = systemProcesses();
  for (let waitedMs = 0; waitedMs < 5_000 && (await processes.read(pid)); waitedMs += 20) await Bun.sleep(20);
}
