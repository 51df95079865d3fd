import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, constants, mkdirSync, openSync } from "node:fs";
import { createClient } from "../../client/client.ts";
import type { Home } from "../../client/home.ts";
import { tooOpenIn } from "../../config/privateHome.ts";
import { daemonCommand } from "../../os/install.ts";
import { TielineError, asTielineError, type ErrorCode } from "../../model/errors.ts";
import { systemTimers, type Timers } from "../../os/timers.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export const startDeadlineMs = 30_000;
/** Who owns the home listens within this time, unless it is about to end. */
const winnersPatienceMs = 2_000;
/** One that listens answers within this time, unless it is stopped. */
const answerMs = 2_000;

/**
 * Starts the daemon and returns when one answers: ours, or that of another command that was faster. An owner of the
 * home that does not come to answer may be one that ends, so that the next start is the one.
 *
 * The daemon writes one line on its stdout: `ready`, `taken` when another one owns the home, or `{"error":{…}}`.
 */
export async function startDaemon(
  home: Home,
  env: Environment,
  command = daemonCommand,
  timers: Timers = systemTimers,
): Promise<void> {
  for (const deadline = timers.elapsed() + startDeadlineMs; ;) {
    const child = launch(home, env, command);
    const line = await firstLine(child, home, timers);
    child.unref();
    if (line === "ready") return;
    if (line !== "taken") throw fromLine(line, home);
    const silence = await silenceOf(home, Math.min(deadline, timers.elapsed() + winnersPatienceMs), timers);
    if (silence === null) return;
    if (timers.elapsed() >= deadline) throw silence;
  }
}

/** A session of its own, so that closing the terminal of the first command does not end it. */
function launch(home: Home, env: Environment, [program, ...argv]: readonly string[]): ChildProcess {
  const log = openLog(home);
  try {
    return spawn(program!, argv, {
      cwd: home.root,
      env: { ...daemonEnvironment(env), TIELINE_HOME: home.root, ...withoutBunCache },
      detached: true,
      stdio: ["ignore", "pipe", log],
    });
  } finally {
    closeSync(log);
  }
}

function openLog(home: Home): number {
  try {
    mkdirSync(home.root, { recursive: true, mode: 0o700 });
    tooOpenIn(home);
    return openSync(
      home.log,
      constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW,
      0o600,
    );
  } catch (cause) {
    if (cause instanceof TielineError) throw cause;
    throw new TielineError("STORE_UNAVAILABLE", `cannot write in ${home.root}: ${asTielineError(cause).message}`, {
      remedy: "make the directory writable, free some disk space, or set TIELINE_HOME to another place",
      operands: { home: home.root },
      cause,
    });
  }
}

/** As in bin/tieline: Bun leaves nothing in the user's home. */
const withoutBunCache = { BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" };

const kept = ["HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "TMPDIR", "TMUX_TMPDIR", "GENIE_NATS_URL"];
/** Ours, but about the one who calls and not about the home. */
const callersOwn = ["TIELINE_TOKEN", "TIELINE_TEAM", "TIELINE_SANDBOX"];

/** The daemon serves every project and outlives its starter, so it inherits nothing that belongs to either. */
export function daemonEnvironment(env: Environment): Record<string, string> {
  const keeps = (name: string): boolean =>
    kept.includes(name) || (/^(LC_|XDG_|TIELINE_)/.test(name) && !callersOwn.includes(name));
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => keeps(entry[0]) && entry[1] !== undefined),
  );
}

function firstLine(child: ChildProcess, home: Home, timers: Timers): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const stdout = child.stdout!;
  let text = "";
  const timer = timers.after(startDeadlineMs, () =>
    reject(notStarted(`it was not ready after ${startDeadlineMs / 1000} s`, home)),
  );
  stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    if (text.includes("\n")) resolve(text.slice(0, text.indexOf("\n")));
  });
  stdout.on("end", () => reject(notStarted("it exited before it was ready", home)));
  child.on("error", (cause) => reject(notStarted(cause.message, home)));
  return promise.finally(() => {
    timer.cancel();
    stdout.destroy();
  });
}

/**
 * Waits for the daemon that owns the home; null: it answers. It holds the mailbox before it listens, and there is
 * nothing to watch until its socket is there.
 */
async function silenceOf(home: Home, deadline: number, timers: Timers): Promise<TielineError | null> {
  const client = createClient({ socket: home.socket }, {});
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, 200)) {
    try {
      await client.call("daemonStatus", {}, timers.timeout(answerMs));
      return null;
    } catch (error) {
      // Any other refusal is an answer too.
      if (!(error instanceof TielineError) || error.code !== "DAEMON_UNAVAILABLE") return null;
      if (timers.elapsed() > deadline) return error;
    }
    await timers.pause(pauseMs);
  }
}

function fromLine(line: string, home: Home): TielineError {
  try {
    const { error } = JSON.parse(line) as { error: { code: ErrorCode; message: string; remedy: string } };
    return new TielineError(error.code, error.message, { remedy: error.remedy });
  } catch {
    return notStarted(`it said ${JSON.stringify(line)}`, home);
  }
}

function notStarted(why: string, home: Home): TielineError {
  return new TielineError("DAEMON_UNAVAILABLE", `the daemon did not start: ${why}`, {
    remedy: `see ${home.log}, or run \`tieline daemon logs\``,
    operands: { log: home.log },
  });
}
