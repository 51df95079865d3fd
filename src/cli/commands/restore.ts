import { resolve } from "node:path";
import type { Restored } from "../../compose/offline.ts";
import { TielineError } from "../../model/errors.ts";
import { command } from "../input/args.ts";
import { canAsk, confirm } from "../input/confirm.ts";
import { counted, named, uncertainRemedy } from "../output/tags.ts";
import type { Paint } from "../output/terminal.ts";

export default command({
  name: "restore",
  group: "Tieline itself",
  summary: "Replace the mailbox with a backup.",
  usage: ["restore <file|latest> [--yes]"],
  details: [
    "Stops the daemon, replaces the mailbox with the backup, and keeps the replaced mailbox beside it under " +
      "another name. The next command starts the daemon again.",
    "Messages accepted after the backup are not in it; the command lists those that it finds in the replaced " +
      "mailbox. Messages that were not delivered yet when the backup was made may have been delivered since, " +
      "so they become uncertain. Tieline looks for each of them in the agent's pane and transcript, and marks " +
      "those that it finds as delivered. It never sends one again by itself: use `retry` or `cancel`. Your own " +
      "mail keeps waiting.",
    "Refused: a damaged backup, a backup of a newer Tieline, and a backup of another mailbox.",
  ],
  args: [{ name: "file", complete: "file", summary: "a backup, or `latest` for the newest one in the home" }],
  flags: { yes: { short: "y", summary: "do not ask for confirmation" } },
  examples: [
    ["tieline restore latest", "the newest backup in the home; asks first"],
    ["tieline restore /mnt/usb/tieline.db --yes", "in a script"],
  ],
  async run({ args, flags, home, runningDaemon, terminal }) {
    const { backupNamed, restorable, restore } = await import("../../compose/offline.ts");
    const { withoutDaemon } = await import("../daemon/maintain.ts");
    const file = backupNamed(home, args.file === "latest" ? "latest" : resolve(args.file));
    const { messages, newestAt } = restorable(home, file);
    const content =
      newestAt === null ? "empty" : `${counted(messages, "message")}, the last of ${new Date(newestAt).toISOString()}`;
    if (!flags.yes) {
      if (flags.json || !canAsk(terminal)) throw cannotAsk(file);
      if (!(await confirm(`Replace the mailbox with ${file} (${content})? It does not hold later messages.`, terminal)))
        return 3;
    }
    const restored = await withoutDaemon(home, runningDaemon, "the mailbox is being restored from a backup", () =>
      restore(home, file, terminal.now()),
    );
    if (flags.json) await terminal.json(restored);
    else await terminal.print(lines(restored, terminal.paint));
    return 0;
  },
});

function lines({ file, messages, replaced, missing, uncertain }: Restored, paint: Paint): string[] {
  return [
    `${paint("green", "✓")} restored ${counted(messages, "message")} from ${file}`,
    missing === null
      ? "  the replaced mailbox cannot be read, so later messages are unknown"
      : `  later messages, not in the backup: ${missing.length}${named(missing)}`,
    `  uncertain now: ${uncertain.length}${named(uncertain)}`,
    ...uncertainRemedy(uncertain),
    ...(replaced === null ? [] : [`  the replaced mailbox is kept as ${replaced}`]),
  ];
}

const cannotAsk = (file: string): TielineError =>
  new TielineError("USAGE", `restoring ${file} replaces the mailbox and needs a confirmation`, {
    remedy: "add --yes",
    operands: { file },
  });
