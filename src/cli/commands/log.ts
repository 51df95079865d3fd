import { command } from "../input/args.ts";
import { namesIn, qualified, teamsOf } from "../output/names.ts";
import { receiptRows } from "../output/receiptRows.ts";
import { count, momentForms, pastMoment } from "../input/times.ts";
import { present } from "../output/present.ts";

export default command({
  name: "log",
  group: "Messages",
  operation: "log",
  usage: ["log [agent]"],
  details: [
    "Lists all teams; --team selects messages sent by or to the agents of that team. Agents are shown as " +
      "team:name unless all are in your team.",
  ],
  args: [{ name: "agent", optional: true, complete: "agent", field: "agent" }],
  flags: {
    thread: { value: "TAG", complete: "tag", field: "thread" },
    grep: { value: "TEXT", field: "grep" },
    since: { value: "TIME", parse: pastMoment, field: "since", note: momentForms },
    limit: { value: "N", parse: count, field: "limit" },
    team: { value: "TEAM", complete: "team", field: "team" },
    tags: { summary: "only the tags, one per line, newest first" },
  },
  examples: [
    ["tieline log --since 1h", "the last hour"],
    ["tieline log engineer --grep Safari", "engineer's messages about Safari"],
    ["tieline log --team web", "messages of team web"],
    [`tieline log --grep '"login test" fail*'`, "a phrase and a prefix"],
    ["tieline log --thread MSG_USER_7f3a91c2", "one conversation"],
  ],
  async run({ input, flags, daemon, terminal }) {
    const receipts = await daemon.call("log", input);
    if (flags.tags && !flags.json)
      return present(receipts, receipts.map(({ tag }) => tag).toReversed(), { flags, terminal });
    if (receipts.length === 0) return present(receipts, terminal.paint("dim", "no messages"), { flags, terminal });
    const nameOf = flags.json ? qualified : await namesIn(flags.team, teamsOf(receipts), daemon);
    return present(receipts, receiptRows(receipts, nameOf, terminal, terminal.now()), { flags, terminal });
  },
});
