import { version } from "../../../package.json";
import { command } from "../input/args.ts";
import { present } from "../output/present.ts";

export default command({
  name: "version",
  group: "Tieline itself",
  summary: "Print the version.",
  usage: ["version"],
  args: [],
  flags: {},
  examples: [["tieline version", "of Tieline and of the Bun that runs it"]],
  async run({ flags, terminal }) {
    return present({ version, bun: Bun.version }, `tieline ${version} (Bun ${Bun.version})`, { flags, terminal });
  },
});
