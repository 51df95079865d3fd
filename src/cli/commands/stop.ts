import { command } from "../args.ts";
import { doToEach } from "../several.ts";

export default command({
  name: "stop",
  group: "Agents",
  summary: "end an agent's program, gently",
  usage: ["stop <agent…>"],
  details: [
    "The program is asked to end in its own words when it waits for input; a running turn is interrupted " +
      "first. If that does not help, or it has no such words, it gets the signal to end. It is never killed: " +
      "`tieline kill` does that.",
    "The agent stays known, with its conversation, its mail and what it takes to start it again. It is " +
      "suspended: `tieline resume` or mail goes on with it.",
  ],
  args: [{ name: "agent", many: true, complete: "agent", summary: "which ones" }],
  flags: {},
  examples: [
    ["tieline stop engineer", "end it, and keep its conversation"],
    ["tieline stop engineer tester", "several at once"],
  ],
  async run({ args, flags, daemon, terminal }) {
    return doToEach("stop", args.agent, daemon, { flags, terminal });
  },
});
