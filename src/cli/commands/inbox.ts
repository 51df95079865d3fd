import { command } from "../args.ts";
import { userName } from "../../model/agent.ts";
import { namesIn } from "../names.ts";
import { confirmShown, letter } from "../letters.ts";
import { apart } from "../rows.ts";
import { count } from "../times.ts";

export default command({
  name: "inbox",
  group: "Messages",
  summary: "read the mail of an agent, or your own",
  usage: ["inbox [agent]"],
  details: [
    "New mail comes first, in the order in which it came; then what was read before, newest first. Reading " +
      "your own mail marks it as seen. --peek only looks.",
    "Your own mail comes from every team; --team shows that team's alone. With an agent, --team says in " +
      "which team it is looked up. Senders are shown as team:name unless all are of your team.",
  ],
  args: [{ name: "agent", optional: true, complete: "agent", summary: "whose mail; yours when left out" }],
  flags: {
    pending: { summary: "only what still waits" },
    peek: { summary: "look without marking anything as seen" },
    limit: { value: "N", parse: count, summary: "at most that many" },
  },
  examples: [
    ["tieline inbox", "your own mail"],
    ["tieline inbox engineer --pending", "what engineer has not got yet, and why"],
    ["tieline inbox --json | jq -r '.[].body'", "for scripts"],
  ],
  async run({ args, flags, daemon, terminal }) {
    const mail = await daemon.call("inbox", {
      ...(args.agent !== undefined && { agent: args.agent }),
      ...(args.agent === undefined && flags.team !== undefined && { team: flags.team }),
      ...(flags.pending && { pending: true }),
      ...(flags.peek && { peek: true }),
      ...(flags.limit !== undefined && { limit: flags.limit }),
    });
    if (flags.json) await terminal.json(mail);
    else if (mail.length === 0)
      await terminal.print(terminal.paint("dim", flags.pending ? "nothing waits" : "no mail"));
    else {
      const nameOf = await namesIn(
        args.agent === undefined ? flags.team : undefined,
        mail.map(({ team, from }) => (from === userName ? null : team)),
        daemon,
      );
      await terminal.print(apart(mail.map((message) => letter(message, nameOf, terminal.paint, Date.now()))));
    }
    await confirmShown(mail, daemon);
    return 0;
  },
});
