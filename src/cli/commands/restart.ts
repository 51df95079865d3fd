import { command } from "../input/args.ts";
import { doToEach } from "../steps/several.ts";

export default command({
  name: "restart",
  group: "Agents",
  operation: "restart",
  usage: ["restart <agent…>"],
  details: ["Continues the same conversation if the program can. Waiting mail is delivered afterwards."],
  args: [{ name: "agent", many: true, complete: "agent", field: "agent" }],
  flags: {},
  examples: [
    ["tieline restart engineer", "after a change of its profile"],
    ["tieline restart engineer tester", "several at once"],
  ],
  async run({ args, flags, daemon, terminal }) {
    return doToEach("restart", args.agent, daemon, { flags, terminal });
  },
});
