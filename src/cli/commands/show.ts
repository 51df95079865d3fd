import { command } from "../input/args.ts";
import { printBody } from "../output/printBody.ts";

export default command({
  name: "show",
  group: "Messages",
  operation: "show",
  usage: ["show <tag>"],
  details: [
    "Prints the stored text: byte for byte to a file or a pipe; on a terminal, control and invisible " +
      "characters are shown by name.",
  ],
  args: [{ name: "tag", complete: "tag", field: "tag" }],
  flags: {},
  examples: [
    ["tieline show MSG_USER_7f3a91c2", "read it"],
    ["tieline show MSG_USER_7f3a91c2 > notes.md", "keep it"],
  ],
  async run({ input, flags, daemon, terminal }) {
    const message = await daemon.call("show", input);
    if (flags.json) await terminal.json(message);
    else await printBody(message, terminal);
    return 0;
  },
});
