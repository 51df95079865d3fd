import type { Home } from "../../client/home.ts";
import { bunExec } from "../../os/exec.ts";
import { connectToRunning } from "../daemon/connect.ts";
import { stopRunning } from "../daemon/runningDaemon.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Ends the demo's own daemon and its own tmux server; both are addressed by their own sockets. Answers whether it ran.
 */
export async function end(home: Home, env: Environment, tmuxName: string): Promise<boolean> {
  const ran = await stopRunning(connectToRunning(home, env));
  const definedEnv = Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  await bunExec(["tmux", "-L", tmuxName, "kill-server"], { env: definedEnv });
  return ran;
}
