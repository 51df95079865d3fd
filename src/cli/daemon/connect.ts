import { callerIn } from "../../client/caller.ts";
import { createClient, mayHaveArrived, type Client, type Noticed } from "../../client/client.ts";
import type { Home } from "../../client/home.ts";
import { methods, repeatable } from "../../api/wire.ts";
import type { Caller, OperationName } from "../../api/schema.ts";
import { TielineError } from "../../model/errors.ts";
import { attended } from "./attend.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** How often a call finds a daemon gone and starts another before it gives up. */
const maxStarts = 3;

type Start = (home: Home, env: Environment) => Promise<void>;

const lazyStart: Start = async (home, env) => (await import("./start.ts")).startDaemon(home, env);

export interface DaemonCallOptions {
  readonly team?: string | undefined;
  readonly start?: Start;
  /** May say more about the caller. */
  readonly as?: (caller: Caller) => Caller;
  /** The user's token, if it is being read already; good for the first try, before any daemon was started. */
  readonly token?: Promise<string>;
  readonly noticed?: Noticed;
}

/** Calls that start a daemon when none answers, and are made again after that. */
export function connect(
  home: Home,
  env: Environment,
  { team, start = lazyStart, as = (caller) => caller, token, noticed }: DaemonCallOptions = {},
): Client {
  let early = token;
  return {
    async call(name, input, signal) {
      for (let starts = 0; ; starts++) {
        const caller = callerOf(home, env, team, early);
        early = undefined;
        const client = createClient({ socket: home.socket }, as(await caller), noticed);
        try {
          return await attended({ home, name, input, signal }, (both) => client.call(name, input, both));
        } catch (error) {
          if (starts === maxStarts || !mayStart(name, input, error, env)) throw error;
          await start(home, env);
        }
      }
    },
  };
}

/** Calls to the daemon that runs now, if one does. */
export function connectToRunning(home: Home, env: Environment, team?: string): Client {
  return {
    async call(name, input, signal) {
      const client = createClient({ socket: home.socket }, await callerOf(home, env, team));
      return attended({ home, name, input, signal }, (both) => client.call(name, input, both));
    },
  };
}

/** What this process says about itself. The token file appears with the first daemon, so it is read for every call. */
export async function callerOf(
  home: Home,
  env: Environment,
  team?: string,
  token = userTokenIn(home),
): Promise<Caller> {
  const userToken = env["TIELINE_TOKEN"] ? undefined : await token;
  return callerIn(env, { pid: process.pid, cwd: process.cwd(), team, userToken });
}

/** Not being able to read it means only that this is not the user, which is the daemon's to judge. */
export async function userTokenIn(home: Home): Promise<string> {
  const text = await Bun.file(home.userToken)
    .text()
    .catch(() => "");
  return text.trim();
}

/**
 * No daemon is started from inside a sandbox, and what may have been done already is done again only if that is
 * harmless.
 */
function mayStart(name: OperationName, input: object, error: unknown, env: Environment): boolean {
  if (!(error instanceof TielineError) || error.code !== "DAEMON_UNAVAILABLE") return false;
  if (env["TIELINE_SANDBOX"]) {
    throw new TielineError("DAEMON_UNAVAILABLE", "the daemon does not answer, and this sandbox may not start one", {
      remedy: "run `tieline daemon start` outside the sandbox",
      cause: error,
    });
  }
  // One that is there and does not answer keeps the home.
  if (["EACCES", "EPERM", "stopped", "silent"].includes(String(error.operands["cause"]))) return false;
  return !mayHaveArrived(error) || methods[name] === "GET" || repeatable.has(name) || "key" in input;
}
