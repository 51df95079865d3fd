import { command } from "../args.ts";

export default command({
  name: "layout",
  group: "Agents",
  summary: "show all agents of a team in one tmux window, or put them back",
  usage: ["layout mosaic|restore|<tmux layout> [team]"],
  details: [
    "The lead stands top left, and the borders name everybody. `restore` puts each pane back into the window " +
      "that it came from.",
  ],
  args: [
    {
      name: "layout",
      choices: ["mosaic", "restore", "tiled", "even-horizontal", "even-vertical", "main-horizontal", "main-vertical"],
      summary: "how to arrange them; mosaic is tiled",
    },
    { name: "team", optional: true, summary: "which team; yours when left out" },
  ],
  flags: {},
  examples: [
    ["tieline layout mosaic", "everybody at a glance"],
    ["tieline layout main-vertical web", "the lead of team web large, the others beside it"],
    ["tieline layout restore", "each in a window of its own again"],
  ],
  async run({ args, flags, daemon, terminal }) {
    const done = await daemon.call("layout", {
      layout: args.layout as "mosaic",
      ...(args.team !== undefined && { team: args.team }),
    });
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
