import { command } from "../input/args.ts";

export default command({
  name: "layout",
  group: "Agents",
  operation: "layout",
  usage: ["layout mosaic|restore|<tmux layout> [team]"],
  details: ["The lead is top left, and the pane borders show names."],
  args: [
    {
      name: "layout",
      choices: ["mosaic", "restore", "tiled", "even-horizontal", "even-vertical", "main-horizontal", "main-vertical"],
      field: "layout",
    },
    { name: "team", optional: true, field: "team" },
  ],
  flags: {},
  examples: [
    ["tieline layout mosaic", "all agents in one window"],
    ["tieline layout main-vertical web", "the lead of team web large, the others beside it"],
    ["tieline layout restore", "each in its own window again"],
  ],
  async run({ args, flags, input, daemon, terminal }) {
    const done = await daemon.call("layout", input);
    if (flags.json) {
      await terminal.json(done);
      return 0;
    }
    const verb = args.layout === "restore" ? "put back" : "in one view";
    const head =
      done.shown.length === 0 ? "nothing to do" : `${terminal.paint("green", "✓")} ${verb}: ${done.shown.join(", ")}`;
    await terminal.print([
      head,
      ...done.leftOut.map(({ agent, reason }) => terminal.paint("dim", `  without ${agent}: ${reason}`)),
    ]);
    return 0;
  },
});
