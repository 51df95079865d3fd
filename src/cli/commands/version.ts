import { version } from "../../../package.json";
import { command } from "../args.ts";

export default command({
  name: "version",
  group: "Tieline itself",
  summary: "print the version",
  usage: ["version"],
  args: [],
  flags: {},
  examples: [["tieline version", "of Tieline and of the Bun that runs it"]],
  async run({ flags, terminal }) {
    if (flags.json) await terminal.json({ version, bun: Bun.version });
    else await terminal.print(`tieline ${version} (Bun ${Bun.version})`);
    return 0;
  },
});
