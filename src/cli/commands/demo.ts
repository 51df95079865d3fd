import { command } from "../input/args.ts";

export default command({
  name: "demo",
  group: "Tieline itself",
  summary: "See Tieline work: scripted agents that write to each other.",
  usage: ["demo", "demo --stop"],
  details: [
    "Runs in its own home and on its own tmux server, and touches nothing of yours. On a terminal the " +
      "team stays, so you can attach and try things; without one, everything is stopped again.",
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
