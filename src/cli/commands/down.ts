import { command } from "../input/args.ts";
import { present } from "../output/present.ts";

export default command({
  name: "down",
  group: "Project",
  operation: "down",
  usage: ["down"],
  details: ["Their mail stays, and is delivered when they are started again."],
  args: [],
  flags: {},
  examples: [["tieline down", "stop this project's agents"]],
  async run({ flags, daemon, terminal }) {
    const { stopped } = await daemon.call("down", {});
    return present(
      { stopped },
      stopped.length === 0
        ? terminal.paint("dim", "nothing was running")
        : `${terminal.paint("green", "✓")} stopped ${stopped.join(", ")}`,
      { flags, terminal },
    );
  },
});
