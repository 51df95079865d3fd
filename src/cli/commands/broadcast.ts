import { command } from "../input/args.ts";
import { conclude, draftOf, sendingFlags, textMeaning } from "../steps/sending.ts";

export default command({
  name: "broadcast",
  group: "Messages",
  uses: ["send"],
  summary: "Send a message to many agents at once.",
  usage: ["broadcast <message…>", "broadcast --team <team> <message…>", "broadcast --all <message…>"],
  details: [
    "Sends one message with a delivery for each recipient. Without --team or --all it goes to all agents " +
      "you have an edge to; in a team without a topology, to the team. Offline members get it later. " +
      "--spawn starts them, and agents of tieline.yaml that were never started.",
    "Agents of other teams are shown as team:name, and with --all --json all of them. An agent that may " +
      "not write to everyone cannot use --all.",
    "Exits with 6 if some recipients were refused.",
  ],
  args: [{ name: "message", optional: true, many: true, ...textMeaning }],
  flags: {
    team: { value: "TEAM", complete: "team", summary: "all agents of this team" },
    all: { summary: "every live agent on this host" },
    ...sendingFlags,
    spawn: { field: "spawn" },
  },
  examples: [
    ['tieline broadcast "main is frozen until the release is out"', "to all agents you may write to"],
    ['tieline broadcast --team web --wait delivered "please rebase"', "to one team, until all have it"],
    ["tieline broadcast --all -f notice.md", "to every live agent on this host"],
  ],
  async run({ args, flags, home, daemon, terminal }) {
    const to = flags.all ? "*" : flags.team === undefined ? "@all" : `@${flags.team}`;
    const draft = await draftOf(args.message, flags);
    const receipt = await daemon.call("send", { to, ...draft, ...(flags.spawn && { spawn: true }) });
    return conclude(receipt, { home, flags, daemon, terminal });
  },
});
