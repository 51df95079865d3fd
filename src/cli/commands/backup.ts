import { resolve } from "node:path";
import { command } from "../input/args.ts";
import { present } from "../output/present.ts";
import { counted, named } from "../output/tags.ts";

export default command({
  name: "backup",
  group: "Tieline itself",
  operation: "backup",
  usage: ["backup [file]"],
  details: [
    "The copy holds messages, deliveries, agents and teams, but no settings, profiles or secrets. It is " +
      "readable by you alone (mode 0600), and it is checked before the command returns. Sending continues " +
      "meanwhile.",
    "Without a file, the copy goes to `backups` in the home. Tieline makes one there every 24 hours and " +
      "keeps the last three; `backup.everyHours`, `backup.keep` and `backup.maxMegabytes` in config.json " +
      "change that. `tieline restore` brings a backup back.",
  ],
  args: [{ name: "file", optional: true, complete: "file", field: "file" }],
  flags: {},
  examples: [
    ["tieline backup", "to the home"],
    ["tieline backup /mnt/usb/tieline.db", "to another disk"],
  ],
  async run({ args, flags, daemon, terminal }) {
    const made = await daemon.call("backup", args.file === undefined ? {} : { file: resolve(args.file) });
    const altered =
      made.altered.length === 0
        ? ""
        : `; altered on the disk: ${counted(made.altered.length, "message")}${named(made.altered)}`;
    const details = `${counted(made.messages, "message")}, ${(made.bytes / 1024 / 1024).toFixed(1)} MB${altered}`;
    const words = `${terminal.paint("green", "✓")} ${made.file}   ${terminal.paint("dim", details)}`;
    return present(made, words, { flags, terminal });
  },
});
