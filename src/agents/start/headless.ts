/** Starts of programs without a terminal, in a tmux window all the same. */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Endpoint } from "../../model/agent.ts";
import type { AgentId } from "../../model/ids.ts";
import type { LaunchPlan } from "../../providers/port.ts";
import {
  outputLimit,
  stdinEndpoint,
  streamsDirectory,
  streamsIn,
  type Streams,
} from "../../delivery/transports/streams.ts";

type Prints = NonNullable<LaunchPlan["prints"]>;

/**
 * `$1` is the input, `$2` the output, `$3` what is printed, `$4` the limit of the output; the rest is the command. The
 * input gets its name when it is open, and loses it when it is no longer read: while the name exists there is a reader.
 * The third descriptor keeps it open when no writer is left. Text is shown in the pane, too, and printed to its end
 * when the program is interrupted. The shell stays in front of the program, which may end at once where it leads the
 * terminal's session itself; a job that was done at once is given the time to be seen as started.
 *
 * What is printed is kept by `dd`, which takes a part and exits: between two parts the file is not written, and
 * the rest waits in the pipe. Then what the readers of a text are through with is cut off: the rest begins a new file,
 * whose name says how much there was before it. Of records, which are read as they come, one old file is kept. A full
 * disk stops no program. The end of the program completes its last line.
 */
const script = `
input=$1 output=$2 prints=$3 limit=$4; shift 4
isfull() { [ $(($(wc -c <"$output"))) -gt "$limit" ]; }
cut() {
  [ -f "$stream.out.read" ] && read -r through <"$stream.out.read" && [ "$through" -gt "$before" ] || return
  rest=$stream+$through.out
  tail -c +$((through - before + 1)) "$output" >"$rest.new" && mv "$rest.new" "$rest" || return
  rm -f "$output"
  output=$rest before=$through
}
keep() {
  stream=\${output%.out} before=0
  while : >>"$output"; do
    if ! isfull; then :; elif [ "$prints" = text ]; then cut; else mv -f "$output" "$output.old"; fi
    told=$(LC_ALL=C dd bs=16384 count=256 2>&1 >>"$output") || sleep 1
    case $told in "0+0 records in"*) break ;; esac
  done
  [ "$prints" = records ] || [ -z "$(tail -c 1 "$output")" ] || echo >>"$output"
  cat >/dev/null
}
rm -f "$input" "$input.new"
mkfifo -m 600 "$input.new" && exec 3<>"$input.new" && mv "$input.new" "$input" || exit
if [ "$prints" = text ]; then
  { "$@" <"$input"; echo $? >"$input.status"; rm -f "$input"; } 3>&- |
    (trap '' INT QUIT HUP TERM; exec 3>&-; tee /dev/fd/4 | keep) 4>&1
else
  { "$@" <"$input" 2>>"\${output%.out}.err"; echo $? >"$input.status"; } 3>&- |
    (trap '' INT QUIT HUP TERM; exec 3>&-; keep)
fi
read -r status <"$input.status"; rm -f "$input.status" "$input.cut"
[ "$prints" = records ] || [ "$status" -ne 0 ] || sleep 1
exit "$status"`;

export function withStreams(
  command: readonly string[],
  { input, output }: Streams,
  prints: Prints,
  limit = outputLimit,
): readonly string[] {
  return ["sh", "-c", script, "sh", input, output, prints, String(limit), ...command];
}

export interface HeadlessStart {
  readonly home: string;
  readonly agent: AgentId;
  /** The conversation that it continues or starts. */
  readonly conversation: string | null;
  readonly startedAt: number;
}

export interface StreamingLaunch {
  readonly command: readonly string[];
  /** Endpoints that it opens. */
  readonly endpoints: readonly Endpoint[];
  /** The files with what the agent prints for others; undefined: it prints for its transport. */
  readonly output: string | undefined;
}

/** Records belong to a conversation. Text gets a new file with each start, which ends what the last one had begun. */
export function onStreams(
  command: readonly string[],
  prints: Prints,
  { home, agent, conversation, startedAt }: HeadlessStart,
): StreamingLaunch {
  mkdirSync(streamsDirectory(home), { recursive: true, mode: 0o700 });
  if (prints === "records")
    return {
      command: withStreams(command, streamsIn(home, conversation ?? agent), prints),
      endpoints: [],
      output: undefined,
    };
  removeOldStreams(home, agent);
  const streams = streamsIn(home, `${agent}.${startedAt}`);
  return {
    command: withStreams(command, streams, prints),
    endpoints: [stdinEndpoint(streams)],
    output: streamsIn(home, `${agent}.*`).output,
  };
}

const keptStarts = 3;

/** Leaves the newest few: they may not be read to their end yet, and the user may want to see them. */
function removeOldStreams(home: string, agent: AgentId): void {
  const directory = streamsDirectory(home);
  const own = readdirSync(directory).filter((name) => name.startsWith(`${agent}.`));
  const startOf = (name: string): number => Number.parseInt(name.slice(agent.length + 1), 10);
  const kept = new Set([...new Set(own.map(startOf))].toSorted((a, b) => b - a).slice(0, keptStarts));
  for (const name of own) if (!kept.has(startOf(name))) rmSync(join(directory, name), { force: true });
}
