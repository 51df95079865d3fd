import { command } from "../input/args.ts";
import { doToEach } from "../steps/several.ts";

export default command({
  name: "stop",
  group: "Agents",
  operation: "stop",
  usage: ["stop <agent…>"],
  details: [
    "Interrupts a running turn, then types the program's exit command at its prompt. If that does not " +
      "help, or the program has no exit command, it gets SIGTERM. `tieline kill` closes the pane instead.",
    "The agent is suspended: its conversation, mail and launch data are kept. `tieline resume` or new " +
      "mail starts it again.",
  ],
  args: [{ name: "agent", many: true, complete: "agent", field: "agent" }],
  flags: {},
  examples: [
    ["tieline stop engineer", "stop it, and keep its conversation"],
    ["tieline stop engineer tester", "several at once"],
  ],
  async run({ args, flags, daemon, terminal }) {
    return doToEach("stop", args.agent, daemon, { flags, terminal });
  },
});
