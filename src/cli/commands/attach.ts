import { TielineError } from "../../model/errors.ts";
import type { Output } from "../../api/schema.ts";
import { command } from "../input/args.ts";
import { shellWord } from "../../os/shell.ts";
import { canAsk } from "../input/confirm.ts";

export default command({
  name: "attach",
  group: "Agents",
  uses: ["place"],
  summary: "Go to an agent's pane in tmux.",
  usage: ["attach [agent]"],
  details: [
    "Outside tmux it attaches, inside it moves this client there. Without a terminal it prints the command that would.",
  ],
  args: [{ name: "agent", optional: true, complete: "agent", field: "agent" }],
  flags: {},
  examples: [
    ["tieline attach engineer", "see what it does, and type to it yourself"],
    ["tieline attach", "the team's session"],
  ],
  async run({ input, flags, env, daemon, terminal }) {
    const place = await daemon.call("place", input);
    const inside = env["TMUX"]?.split(",", 1)[0];
    if (inside !== undefined && inside !== place.socket) throw otherServer(place);
    const argv = inside === undefined ? attaching(place) : moving(place);
    if (flags.json) await terminal.json({ ...place, command: argv });
    else if (!canAsk(terminal)) await terminal.print(argv.map(shellWord).join(" "));
    else return Bun.spawn(argv, { stdin: "inherit", stdout: "inherit", stderr: "inherit" }).exited;
    return 0;
  },
});

type Place = Output<"place">;

const tmux = ({ socket }: Place): string[] => ["tmux", "-S", socket];

/** `=` and `:` make a target exact: without them tmux takes the beginning of a name, or a pane, for it. */
const exactly = ({ session }: Place): string => `=${session}:`;

function attaching(place: Place): string[] {
  const first =
    place.pane === null ? [] : ["select-window", "-t", place.pane, ";", "select-pane", "-t", place.pane, ";"];
  return [...tmux(place), ...first, "attach-session", "-t", exactly(place)];
}

function moving(place: Place): string[] {
  return [...tmux(place), "switch-client", "-t", place.pane ?? exactly(place)];
}

const otherServer = (place: Place): TielineError =>
  new TielineError(
    "CONFLICT",
    `you are attached to a different tmux server than ${place.socket}; nesting would capture its prefix ` + "key",
    {
      remedy: `detach first, or insist: TMUX= ${attaching(place).map(shellWord).join(" ")}`,
      operands: { ...place },
    },
  );
