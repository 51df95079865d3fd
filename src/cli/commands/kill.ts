import { command } from "../input/args.ts";
import { doToEach } from "../steps/several.ts";

export default command({
  name: "kill",
  group: "Agents",
  operation: "kill",
  usage: ["kill <agent…>"],
  details: [
    "Other panes of the window stay. Processes that " +
      "still run after two seconds are killed; if one survives, the command fails. Unsaved work of the " +
      "program is lost.",
    "The agent is suspended: its conversation, mail and launch data are kept. `tieline resume` or new " +
      "mail starts it again.",
  ],
  args: [{ name: "agent", many: true, complete: "agent", field: "agent" }],
  flags: {},
  examples: [
    ["tieline kill engineer", "stop it at once"],
    ["tieline kill engineer tester", "several at once"],
  ],
  async run({ args, flags, daemon, terminal }) {
    return doToEach("kill", args.agent, daemon, { flags, terminal });
  },
});
