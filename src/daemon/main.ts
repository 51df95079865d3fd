/** The daemon's process. It says one line on its stdout: `ready`, `taken`, or an error as JSON. */
import { homeOf } from "../client/home.ts";
import { asTielineError } from "../model/errors.ts";
import { DatabaseTaken } from "../os/sqlite/connection.ts";
import { tmuxSocketNamed } from "../client/tmuxSocket.ts";
import { version } from "../../package.json";
import { startDaemon } from "./daemon.ts";
import { programsDirectory } from "./programs.ts";

// For this process alone: agents may be Bun programs, too.
delete process.env["BUN_RUNTIME_TRANSPILER_CACHE_PATH"];

try {
  const home = homeOf(process.env);
  const daemon = await startDaemon({
    home,
    version,
    tmuxSocket: tmuxSocketNamed(process.env["TIELINE_TMUX_SOCKET"] || "default", process.env),
    env: definedIn(process.env),
    binDirectory: programsDirectory(home.root),
    stderr: process.stderr.fd,
  });
  // The next command starts another daemon, and nothing is lost; the reason is in the log, at its usual length.
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (fault: unknown) => {
      daemon.report(event, fault);
      process.exit(1);
    });
  }
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => daemon.stop());
  say("ready");
  await daemon.stopped;
  process.exit(0);
} catch (thrown) {
  if (thrown instanceof DatabaseTaken) say("taken");
  else say(JSON.stringify({ error: asTielineError(thrown).toJSON() }));
  process.exit(thrown instanceof DatabaseTaken ? 0 : 1);
}

/** The starter may be gone already; the daemon does not depend on it. */
function say(line: string): void {
  process.stdout.on("error", () => undefined);
  process.stdout.write(`${line}\n`);
}

function definedIn(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
