import { command } from "../input/args.ts";
import { namesIn, teamsOf } from "../output/names.ts";
import { receiptLines } from "../output/receipts.ts";
import { count } from "../input/times.ts";

export default command({
  name: "dead",
  group: "Messages",
  operation: "dead",
  usage: ["dead"],
  details: [
    "A message is dead if its delivery failed or expired. `tieline retry <tag>` queues it again, with " +
      "the same tag.",
    "Of every team; with --team, what was sent in that team or to one of its agents. Agents are shown as " +
      "team:name unless all are of your team.",
  ],
  args: [],
  flags: {
    limit: { value: "N", parse: count, field: "limit" },
    team: { value: "TEAM", complete: "team", field: "team" },
  },
  examples: [["tieline dead", "what was lost on the way, and why"]],
  async run({ input, flags, daemon, terminal }) {
    const receipts = await daemon.call("dead", input);
    if (flags.json) await terminal.json(receipts);
    else if (receipts.length === 0) await terminal.print(terminal.paint("dim", "no dead letters"));
    else {
      const nameOf = await namesIn(flags.team, teamsOf(receipts), daemon);
      await terminal.print(
        receipts.flatMap((receipt) => receiptLines(receipt, terminal.paint, terminal.now(), nameOf)),
      );
    }
    return 0;
  },
});
