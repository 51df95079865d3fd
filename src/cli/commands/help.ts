import { command, usage } from "../args.ts";
import { helpFor, overview } from "../help.ts";
import { loadAll } from "../registry.ts";

const help = command({
  name: "help",
  group: "Tieline itself",
  summary: "list the commands, or show how one is used",
  usage: ["help [command]"],
  args: [{ name: "command", optional: true, summary: "which one" }],
  flags: {},
  examples: [["tieline help send", "the same as tieline send --help"]],
  async run({ args, flags, terminal }) {
    const commands = await loadAll();
    const wanted = commands.find(({ name }) => name === args.command);
    if (args.command !== undefined && !wanted) throw usage(help, `there is no command ${JSON.stringify(args.command)}`);
    if (flags.json) await terminal.json(wanted ?? commands);
    else await terminal.print(wanted ? helpFor(wanted, terminal.paint) : overview(commands, terminal.paint));
    return 0;
  },
});
export default help;
