import { createClient } from "../client/client.ts";
import { homeOf } from "../client/home.ts";
import { callerOf } from "../cli/daemon/connect.ts";

/**
 * Makes an agent that fetches its own mail known in a home whose daemon runs. Its mail waits until it does, whatever is
 * installed on the machine.
 */
export async function registerReader(
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly token: string }> {
  const home = homeOf(env);
  const { token } = await createClient({ socket: home.socket }, await callerOf(home, env)).call("register", { name });
  return { token };
}
