import { readFile } from "node:fs/promises";
import { callerIn } from "../client/caller.ts";
import type { DaemonAddress } from "../client/client.ts";
import { homeOf, rootOf } from "../client/home.ts";
import type { Caller } from "../api/schema.ts";
import { agentOver, type ConnectedAgent } from "./agent.ts";
import { socketFetch } from "./socketFetch.ts";

export interface ConnectOptions {
  /** The home to connect to. Default: TIELINE_HOME, else ~/.tieline. */
  readonly home?: string;
  /**
   * `http://127.0.0.1:PORT`, when the home is not at hand. Needs a token, which any program that listens there is
   * given: while the daemon is down, another user of the machine can take its port.
   */
  readonly url?: string;
  /** The caller's identity. Default: TIELINE_TOKEN, else what the daemon detects for this process. */
  readonly token?: string;
  /** The team whose names are meant. Default: TIELINE_TEAM, else that of the nearest tieline.yaml. */
  readonly team?: string;
  /** Default: the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Connects to a daemon that runs: at the socket of its home, which only its user can open, or at a URL. Rejects with
 * DAEMON_UNAVAILABLE or IDENTITY_UNKNOWN; after that, calls that find the daemon restarting say so themselves.
 */
export async function connect({
  home,
  url,
  token,
  team,
  env: given = process.env,
}: ConnectOptions = {}): Promise<ConnectedAgent> {
  const env = {
    ...given,
    ...(home !== undefined && { TIELINE_HOME: home }),
    ...(token !== undefined && { TIELINE_TOKEN: token }),
  };
  const userToken = env["TIELINE_TOKEN"] || url !== undefined ? undefined : await textOf(`${rootOf(env)}/user.token`);
  const caller = callerIn(env, { pid: process.pid, cwd: process.cwd(), team, userToken });
  const agent = agentOver(url === undefined ? daemonIn(env) : { url, ...bearer(caller) }, caller);
  await agent.whoami();
  return agent;
}

/** The socket: a program that takes the daemon's port would be given the token there. */
function daemonIn(env: Readonly<Record<string, string | undefined>>): DaemonAddress {
  const { socket } = homeOf(env);
  return "bun" in process.versions ? { socket } : { socket, fetch: socketFetch(socket) };
}

function bearer({ token, userToken }: Caller): { token?: string } {
  const secret = token ?? userToken;
  return secret === undefined ? {} : { token: secret };
}

/** Not being able to read it means that there is none for us; the daemon says what is missing. */
async function textOf(path: string): Promise<string> {
  return (await readFile(path, "utf8").catch(() => "")).trim();
}
