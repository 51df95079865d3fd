import { command } from "../input/args.ts";
import { userName } from "../../model/agent.ts";
import { namesIn } from "../output/names.ts";
import { confirmShown, letter } from "../output/letters.ts";
import { apart } from "../output/rows.ts";
import { count } from "../input/times.ts";

export default command({
  name: "inbox",
  group: "Messages",
  operation: "inbox",
  usage: ["inbox [agent]"],
  details: [
    "New mail comes first, oldest first; then mail that was read before, newest first. Reading your own " +
      "mail marks it as seen; --peek does not.",
    "Your own mail comes from all teams; --team selects one. With an agent, --team is the agent's team. " +
      "Senders are shown as team:name unless all are in your team.",
  ],
  args: [{ name: "agent", optional: true, complete: "agent", field: "agent" }],
  flags: {
    pending: { field: "pending" },
    peek: { field: "peek" },
    limit: { value: "N", parse: count, field: "limit" },
  },
  examples: [
    ["tieline inbox", "your own mail"],
    ["tieline inbox engineer --pending", "undelivered mail of engineer, and why it waits"],
    ["tieline inbox --json | jq -r '.[].body'", "for scripts"],
  ],
  async run({ args, flags, input, daemon, terminal }) {
    const mail = await daemon.call("inbox", {
      ...input,
      ...(args.agent === undefined && flags.team !== undefined && { team: flags.team }),
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
      await terminal.print(apart(mail.map((message) => letter(message, nameOf, terminal.paint, terminal.now()))));
    }
    await confirmShown(mail, daemon);
    return 0;
  },
});
