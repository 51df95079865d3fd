import { command } from "../input/args.ts";
import { present } from "../output/present.ts";

export default command({
  name: "whoami",
  group: "Tieline itself",
  operation: "whoami",
  usage: ["whoami"],
  args: [],
  flags: {},
  examples: [["tieline whoami", "inside an agent: its name and team"]],
  async run({ flags, daemon, terminal }) {
    const me = await daemon.call("whoami", {});
    return present(
      me,
      `${me.name} in team ${me.team}${me.role === null ? "" : ` (${me.role})`}   ` +
        `${terminal.paint("dim", `known by ${me.knownBy}`)}`,
      { flags, terminal },
    );
  },
});
