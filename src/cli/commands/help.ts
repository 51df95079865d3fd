import { command } from "../args.ts";
import { helpFor, overview } from "../help.ts";
import { loadAll, registry, unknownCommand } from "../registry.ts";
import { present } from "../present.ts";

export default command({
  name: "help",
  group: "Tieline itself",
  summary: "list commands, or show the usage of one",
  usage: ["help [command]"],
  args: [{ name: "command", optional: true, summary: "the command" }],
  flags: {},
  examples: [["tieline help send", "the same as tieline send --help"]],
  async run({ args, flags, terminal }) {
    if (args.command !== undefined && !Object.hasOwn(registry, args.command)) throw await unknownCommand(args.command);
    const commands = await loadAll();
    const wanted = commands.find(({ name }) => name === args.command);
    return present(wanted ?? commands, wanted ? helpFor(wanted, terminal.paint) : overview(commands, terminal.paint), {
      flags,
      terminal,
    });
  },
});
