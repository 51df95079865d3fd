import { command, usage } from "../input/args.ts";
import { present } from "../output/present.ts";

const note = command({
  name: "note",
  group: "Agents",
  operation: "note",
  usage: ["note <text…>", "note --clear"],
  args: [{ name: "text", optional: true, many: true, field: "text", note: "several words are joined by spaces" }],
  flags: {
    clear: { summary: "remove the note" },
    agent: { value: "NAME", complete: "agent", field: "agent" },
  },
  examples: [
    ['tieline note "migrating the login tests, back at four"', "as an agent, about yourself"],
    ["tieline note --clear", "remove it"],
  ],
  async run({ args, flags, daemon, terminal }) {
    if (flags.clear ? args.text.length > 0 : args.text.length === 0) throw usage(note, "give either a text or --clear");
    const text = flags.clear ? null : args.text.join(" ");
    const result = await daemon.call("note", { text, ...(flags.agent !== undefined && { agent: flags.agent }) });
    return present(result, `${result.agent}: ${result.note ?? terminal.paint("dim", "no note")}`, { flags, terminal });
  },
});
export default note;
