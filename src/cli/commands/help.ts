import { command } from "../input/args.ts";
import { loadAll, registry, unknownCommand } from "../registry.ts";
import { present } from "../output/present.ts";

export default command({
  name: "help",
  group: "Tieline itself",
  summary: "List the commands, or show how one is used.",
  usage: ["help [command]"],
  args: [{ name: "command", optional: true, summary: "the command" }],
  flags: {},
  examples: [["tieline help send", "the same as tieline send --help"]],
  async run({ args, flags, terminal }) {
    if (args.command !== undefined && !Object.hasOwn(registry, args.command)) throw await unknownCommand(args.command);
    const [{ helpFor, overview }, { described }, { operationWords }] = await Promise.all([
      import("../help/help.ts"),
      import("../help/described.ts"),
      import("../../api/operationWords.ts"),
    ]);
    const words = operationWords();
    const commands = (await loadAll()).map((one) => described(one, words));
    const wanted = commands.find(({ name }) => name === args.command);
    return present(wanted ?? commands, wanted ? helpFor(wanted, terminal.paint) : overview(commands, terminal.paint), {
      flags,
      terminal,
    });
  },
});
