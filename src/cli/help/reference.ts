import { deadlines } from "../../client/deadlines.ts";
import { errorCodes } from "../../model/errors.ts";
import { momentMs } from "../daemon/attend.ts";
import { phrase, type DescribedCommand } from "./described.ts";
import { everyMs, probeMs, silentMs } from "../daemon/stall.ts";
import { startDeadlineMs } from "../daemon/start.ts";
import { argumentName, describe, flagName, groups } from "./help.ts";

/** docs/cli.md, made from the data of the commands. */
export function reference(commands: readonly DescribedCommand[]): string {
  return [
    "# The command line",
    "Made by `scripts/docs-cli.ts` from `src/cli/commands/` and `src/api/operations/`; change it there.",
    contents(commands),
    scripts,
    times,
    exitCodes(),
    ...groups.flatMap((group) => commands.filter((command) => command.group === group).map(page)),
  ]
    .join("\n\n")
    .concat("\n");
}

function contents(commands: readonly DescribedCommand[]): string {
  return groups
    .map((group) => {
      const names = commands
        .filter((command) => command.group === group)
        .map(({ name, summary }) => `- [\`${name}\`](#tieline-${name}): ${phrase(summary)}`);
      return [`**${group}**`, "", ...names].join("\n");
    })
    .join("\n\n");
}

const scripts = `## For scripts

\`TIELINE_HOME\` holds all state, \`TIELINE_TMUX_SOCKET\` names the tmux server (\`tmux -L\`), \`TIELINE_TEAM\` the
team. The daemon is started by the first command that needs it, except where \`TIELINE_SANDBOX\` is set. Colour
appears only on a terminal, and not with \`NO_COLOR\`.

With \`--json\` exactly one JSON value is printed on stdout, also for errors:
\`{"error":{"code","message","remedy"}}\`, and nothing on stderr. Without it, errors are \`error CODE: text\` on
stderr, followed by an indented line that says what to do. Fields may be added; these stay. Times are ISO-8601 in UTC.

What agents write is printed as plain text: control characters, terminal escapes, and characters that reorder text or
have no width are shown by name (\`␛\`, \`⟨U+202E⟩\`), and a name, summary, note or error stays one line. \`show\`,
\`ask\` and \`topology export\` print every byte when stdout is a file or a pipe. JSON escapes such characters, so a
parser gets every byte.

| Command | Prints |
|---|---|
| \`send\`, \`broadcast\`, \`reply\` | \`{id, tag, from, to, deliveries: [{agent, state, proof, transport, authority, \
reason, attempts}]}\`, where \`attempts\` counts failed attempts; a broadcast also \`successful\` and \`failed\`; if \
\`--wait\` fails also \`error\` |
| \`status\` | the same with \`steps: [{at, agent, verb, from, to, reason, proof, transport}]\`; a long history drops \
some waiting steps, and the next step has their number as \`leftOut\` |
| \`ls\` | an array of \`{id, name, team, role, provider, state, reason, presence, pane, pending}\`; with \`--watch\` \
one array on a line for every change |
| \`inbox\` | an array of \`{id, tag, from, to, body, state, reason, at}\` |
| \`daemon status\` | \`{running, pid, version, socket}\`; \`pid\` and \`version\` are null if it is not running |

Every \`send\` carries an idempotency key, so the command retries safely if the daemon dies in between. Pass \`--key\`
to make your own retries safe.`;

const times = `## Timeouts

| | |
|---|---|
| starting the daemon | ${startDeadlineMs / 1_000} s |
| the answer of the daemon | ${deadlines.usual / 1_000} s; ${deadlines.long / 60_000} minutes where programs are \
started or stopped (\`up\`, \`down\`, \`spawn\`, \`stop\`, \`kill\`, \`restart\`, \`resume\`, \`team\`) or the whole \
mailbox is read (\`backup\`, \`doctor\`); then \`NOT_IN_TIME\`, exit 4 |
| waiting (\`--wait\`, \`ask\`) | \`--timeout\`, or the time that the help of the command names |
| \`daemon stop\` | 15 s until the daemon has exited |
| \`restore\`, \`doctor --repair\` | 20 s to lock the mailbox; then as long as copying takes |
| following (\`events -f\`, \`ls --watch\`, \`daemon logs -f\`) | until Ctrl-C |
| a daemon that is stopped (SIGSTOP) | ${(momentMs + probeMs) / 1_000} s, or ${(everyMs + probeMs) / 1_000} s during \
a wait; then \`DAEMON_UNAVAILABLE\`, exit 5, with its pid and what to do |
| a daemon that hangs | ${(momentMs + probeMs + silentMs) / 1_000} s, or ${(everyMs + probeMs + silentMs) / 1_000} s \
during a wait; the same |
| a tmux server that does not answer | \`ls\` answers after 2 s with the last known states and says so; commands that \
need the pane fail with \`TMUX_UNAVAILABLE\`, exit 5, within 25 s |

After one second, a waiting command checks every few seconds whether the daemon still works. A call that failed because
the daemon was stopped has no effect when the daemon continues.`;

const meanings: Readonly<Record<number, string>> = {
  0: "success",
  1: "a bug in Tieline",
  2: "usage: the command, the text or a file is wrong",
  3: "refused: address, route, limit, identity",
  4: "state not reached in time: held, failed, expired",
  5: "not available: daemon, tmux, disk",
  6: "a broadcast was refused for some recipients",
  7: "a question for you comes first",
};

function exitCodes(): string {
  const rows = Object.entries(meanings).map(([exit, meaning]) => {
    const codes = Object.entries(errorCodes)
      .filter(([, row]) => row.exit === Number(exit))
      .map(([code]) => `\`${code}\``);
    return `| ${exit} | ${meaning} | ${codes.join(" ")} |`;
  });
  return ["## Exit codes", "", "| Exit | Meaning | Error codes |", "|---|---|---|", ...rows].join("\n");
}

function page(command: DescribedCommand): string {
  const args = command.args.map((argument) => [argumentName(argument), describe(argument)]);
  const flags = command.flags.map(([name, flag]) => [flagName(name, flag), describe(flag)]);
  return [
    `## tieline ${command.name}`,
    command.summary,
    ["```sh", ...command.usage.map((form) => `tieline ${form}`), "```"].join("\n"),
    ...command.details,
    rowsOf("Action", command.actions),
    rowsOf("Argument", args),
    rowsOf("Flag", flags),
    ["```sh", ...command.examples.flatMap(([line, why]) => [`# ${why}`, line]), "```"].join("\n"),
  ]
    .filter(Boolean)
    .join("\n\n");
}

function rowsOf(title: string, rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  return [
    `| ${title} | |`,
    "|---|---|",
    ...rows.map(([name, text]) => `| \`${name}\` | ${text!.replaceAll("|", "\\|")} |`),
  ].join("\n");
}
