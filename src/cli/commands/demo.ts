import { command } from "../args.ts";

export default command({
  name: "demo",
  group: "Tieline itself",
  summary: "see it work: scripted agents that write to each other",
  usage: ["demo", "demo --stop"],
  details: [
    "Runs in a home and on a tmux server of its own, so that nothing of yours is touched. On a terminal the " +
      "team stays, " +
      "for you to attach and try things; without one, everything is taken down again.",
  ],
  args: [],
  flags: { stop: { summary: "take down the demo that still runs" } },
  examples: [
    ["tieline demo", "needs no model and no key"],
    ["tieline demo --stop", "when you have seen enough"],
  ],
  async run({ flags, env, terminal }) {
    const { runDemo, stopDemo } = await import("../demo/play.ts");
    return flags.stop ? stopDemo(env, terminal) : runDemo(env, terminal);
  },
});
