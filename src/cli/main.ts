import type { Noticed } from "../client/client.ts";
import { homeOf } from "../client/home.ts";
import { exitIn } from "../model/agent.ts";
import { asTielineError } from "../model/errors.ts";
import { inputOf, parse } from "./input/args.ts";
import type { AnyCommand } from "./command.ts";
import { connect, connectToRunning, userTokenIn } from "./daemon/connect.ts";
import { registry, unknownCommand } from "./registry.ts";
import { errorText, openTerminal, type Terminal } from "./output/terminal.ts";

/** What people type first, whatever the command is called. */
const otherNames = new Map([
  ["--help", "help"],
  ["-h", "help"],
  ["--version", "version"],
  ["-V", "version"],
]);

const terminal = openTerminal(process.env);
// Without arguments on a terminal it opens the team.
const [written = terminal.interactive ? "open" : "help", ...argv] = process.argv.slice(2);
// Leaving at once, instead of waiting for idle connections to close.
void main(otherNames.get(written) ?? written, argv)
  .catch((thrown: unknown) => fail(thrown, argv, terminal))
  .then((code) => process.exit(code));

async function main(name: string, argv: readonly string[]): Promise<number> {
  const home = homeOf(process.env);
  // Read while the command is, and there by the time that it is asked for.
  const token = userTokenIn(home);
  const command = await load(name);
  const { args, flags } = await parse(command, argv);
  if (flags["help"]) {
    const [{ helpFor }, { described }, { operationWords }] = await Promise.all([
      import("./help/help.ts"),
      import("./help/described.ts"),
      import("../api/operationWords.ts"),
    ]);
    await terminal.print(helpFor(described(command, operationWords()), terminal.paint));
    return 0;
  }
  const team = flags["team"] as string | undefined;
  return command.run({
    args,
    flags,
    input: inputOf(command, { args, flags }),
    env: process.env,
    home,
    daemon: connect(home, process.env, { team, token, noticed: onceEach(terminal) }),
    runningDaemon: connectToRunning(home, process.env, team),
    terminal,
  });
}

/** Each notice once, however many calls a command makes. */
function onceEach({ complain }: Terminal): Noticed {
  const told = new Set<string>();
  return async (notices) => {
    const news = notices.filter((notice) => !told.has(notice));
    for (const notice of news) told.add(notice);
    if (news.length > 0) await complain(news.map((notice) => `note: ${notice}`));
  };
}

async function load(name: string): Promise<AnyCommand> {
  const found = Object.hasOwn(registry, name) ? registry[name] : undefined;
  if (found) return (await found()).default;
  throw await unknownCommand(name);
}

/** For people on stderr; with --json one object on stdout and nothing else there. */
async function fail(thrown: unknown, argv: readonly string[], { json, complain }: Terminal): Promise<number> {
  // A reader such as `head` has seen enough.
  if ((thrown as { code?: unknown }).code === "EPIPE") return 0;
  const error = asTielineError(thrown);
  const end = argv.indexOf("--");
  if ((end < 0 ? argv : argv.slice(0, end)).includes("--json")) {
    await json({ error });
  } else {
    const { code, message, remedy } = error;
    await complain(errorText({ code, message, remedy, output: exitIn(error)?.output }));
  }
  return error.exitCode;
}
