/** Starts of programs without a terminal, in a tmux window all the same. */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Endpoint } from "../model/agent.ts";
import type { AgentId } from "../model/ids.ts";
import type { LaunchPlan } from "../providers/provider.ts";
import { stdinEndpoint, streamsDirectory, streamsIn, type Streams } from "../transports/streams.ts";

type Prints = NonNullable<LaunchPlan["prints"]>;

/**
 * `$1` is the input, `$2` the output, `$3` what is printed; the rest is the command. The input gets its name when it is
 * open, and loses it when nobody will read it any more: whoever finds it has a reader. The third descriptor keeps it open
 * when no writer is left. Text is shown in the pane, too, and printed to its end when the program is interrupted. The
 * shell stays in front of the program, which may end at once where it leads the terminal's session itself; a job that
 * was done at once is given the time to be seen as started.
 */
const script = `
input=$1 output=$2 prints=$3; shift 3
rm -f "$input" "$input.new"
mkfifo -m 600 "$input.new" && exec 3<>"$input.new" && mv "$input.new" "$input" || exit
if [ "$prints" = text ]; then
  { "$@" <"$input"; echo $? >"$input.status"; rm -f "$input"; } 3>&- | (trap '' INT QUIT HUP TERM; exec tee -a "$output" 3>&-)
  read -r status <"$input.status"; rm -f "$input.status" "$input.cut"
  [ "$status" -ne 0 ] || sleep 1
else
  "$@" <"$input" 3>&- >>"$output" 2>>"\${output%.out}.err"
  status=$?
fi
exit "$status"`;

export function withStreams(command: readonly string[], { input, output }: Streams, prints: Prints): readonly string[] {
  return ["sh", "-c", script, "sh", input, output, prints, ...command];
}

export interface Start {
  readonly home: string;
  readonly agent: AgentId;
  /** The conversation that it goes on with or begins. */
  readonly conversation: string | null;
  readonly startedAt: number;
}

export interface StreamingLaunch {
  readonly command: readonly string[];
  /** Ways in that it opens. */
  readonly endpoints: readonly Endpoint[];
  /** The files with what the agent prints for others; undefined: it prints for its transport. */
  readonly output: string | undefined;
}

/** Records belong to a conversation. Text gets a new file with each start, which ends what the last one had begun. */
export function onStreams(command: readonly string[], prints: Prints, { home, agent, conversation, startedAt }: Start): StreamingLaunch {
  mkdirSync(streamsDirectory(home), { recursive: true, mode: 0o700 });
  if (prints === "records") return { command: withStreams(command, streamsIn(home, conversation ?? agent), prints), endpoints: [], output: undefined };
  removeOldStreams(home, agent);
  const streams = streamsIn(home, `${agent}.${startedAt}`);
  return { command: withStreams(command, streams, prints), endpoints: [stdinEndpoint(streams)], output: streamsIn(home, `${agent}.*`).output };
}

const keptStarts = 3;

/** Leaves the newest few: what stands in them may not be read to its end yet, and people may want to see it. */
function removeOldStreams(home: string, agent: AgentId): void {
  const directory = streamsDirectory(home);
  const own = readdirSync(directory).filter((name) => name.startsWith(`${agent}.`));
  const startOf = (name: string): number => Number(name.slice(agent.length + 1).split(".")[0]);
  const kept = new Set([...new Set(own.map(startOf))].toSorted((a, b) => b - a).slice(0, keptStarts));
  for (const name of own) if (!kept.has(startOf(name))) rmSync(join(directory, name), { force: true });
}
