import { command } from "../args.ts";
import { doToEach } from "../several.ts";

export default command({
  name: "restart",
  group: "Agents",
  summary: "end an agent and start it again",
  usage: ["restart <agent…>"],
  details: ["The same conversation goes on, where the program can. Mail that waits is delivered afterwards."],
  args: [{ name: "agent", many: true, complete: "agent", summary: "which ones" }],
  flags: {},
  examples: [
    ["tieline restart engineer", "after a change of its profile"],
    ["tieline restart engineer tester", "several at once"],
  ],
  async run({ args, flags, daemon, terminal }) {
    return doToEach("restart", args.agent, daemon, { flags, terminal });
  },
});
