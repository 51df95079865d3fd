import { readFile } from "node:fs/promises";
import { callerIn } from "../client/caller.ts";
import type { Daemon } from "../client/client.ts";
import { homeOf, rootOf } from "../client/home.ts";
import type { Caller } from "../client/schema.ts";
import { TielineError } from "../model/errors.ts";
import { agentOver, type Agent } from "./agent.ts";

export interface ConnectOptions {
  /** The home to connect to. Default: TIELINE_HOME, else ~/.tieline. */
  readonly home?: string;
  /** `http://127.0.0.1:PORT`, when the home is not at hand. Needs a token. */
  readonly url?: string;
  /** Who you are. Default: TIELINE_TOKEN, else whoever the daemon takes this process for. */
  readonly token?: string;
  /** The team whose names are meant. Default: TIELINE_TEAM, else that of the nearest tieline.yaml. */
  readonly team?: string;
  /** Default: the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Connects to a daemon that runs: under Bun at its socket, elsewhere at its loopback port. Rejects with
 * DAEMON_UNAVAILABLE or IDENTITY_UNKNOWN; after that, calls that find the daemon restarting say so themselves.
 */
export async function connect({ home, url, token, team, env: given = process.env }: ConnectOptions = {}): Promise<Agent> {
  const env = { ...given, ...(home !== undefined && { TIELINE_HOME: home }), ...(token !== undefined && { TIELINE_TOKEN: token }) };
  const personToken = env["TIELINE_TOKEN"] || url !== undefined ? undefined : await textOf(`${rootOf(env)}/user.token`);
  const caller = callerIn(env, { pid: process.pid, cwd: process.cwd(), team, personToken });
  const agent = agentOver(url === undefined ? await daemonIn(env, caller) : { url, ...bearer(caller) }, caller);
  await agent.whoami();
  return agent;
}

/** Only Bun's fetch can speak over a socket. */
async function daemonIn(env: Readonly<Record<string, string | undefined>>, caller: Caller): Promise<Daemon> {
  if ("bun" in process.versions) return { socket: homeOf(env).socket };
  const root = rootOf(env);
  const port = Number(await textOf(`${root}/port`));
  if (port > 0) return { url: `http://127.0.0.1:${port}`, ...bearer(caller) };
  throw new TielineError("DAEMON_UNAVAILABLE", `no daemon has run in ${root} yet`, { remedy: "run `tieline daemon start`", operands: { home: root } });
}

function bearer({ token, personToken }: Caller): { token?: string } {
  const secret = token ?? personToken;
  return secret === undefined ? {} : { token: secret };
}

/** Not being able to read it means that there is none for us; the daemon says what is missing. */
async function textOf(path: string): Promise<string> {
  return (await readFile(path, "utf8").catch(() => "")).trim();
}
