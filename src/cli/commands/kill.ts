import { command } from "../args.ts";
import { doToEach } from "../several.ts";

export default command({
  name: "kill",
  group: "Agents",
  summary: "take an agent's pane away",
  usage: ["kill <agent…>"],
  details: [
    "The pane dies with all that runs in it; other panes of the same window stay. What still runs two " +
      "seconds later is killed, and what survives even that is an error. What the program had not saved is " +
      "lost.",
    "The agent stays known, with its conversation, its mail and what it takes to start it again. It is " +
      "suspended: `tieline resume` or mail goes on with it.",
  ],
  args: [{ name: "agent", many: true, complete: "agent", summary: "which ones" }],
  flags: {},
  examples: [
    ["tieline kill engineer", "end it at once"],
    ["tieline kill engineer tester", "several at once"],
  ],
  async run({ args, flags, daemon, terminal }) {
    return doToEach("kill", args.agent, daemon, { flags, terminal });
  },
});
