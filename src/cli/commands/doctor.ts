import type { Check } from "../../api/schema.ts";
import type { Repaired } from "../../compose/offline.ts";
import { asTielineError } from "../../model/errors.ts";
import { command } from "../input/args.ts";
import type { Context } from "../command.ts";
import { counted, named, uncertainRemedy } from "../output/tags.ts";
import type { Paint, TextStyle } from "../output/terminal.ts";

export default command({
  name: "doctor",
  group: "Tieline itself",
  operation: "doctor",
  usage: ["doctor [--repair]"],
  details: [
    "tmux, versions, socket, clock, disk, the whole mailbox, backups, and a probe of every endpoint. " +
      "Exits with 5 if a check failed.",
    "--repair is for a mailbox that is refused as STORE_CORRUPT. It stops the daemon, copies what is " +
      "readable into a new mailbox, page by page, and keeps the damaged file. It lists what it saved, and " +
      "what it knows to be lost. Undelivered messages become uncertain, as after `tieline restore`; your " +
      "own mail stays queued.",
  ],
  args: [],
  flags: { repair: { summary: "save what is readable of a damaged mailbox" } },
  examples: [
    ["tieline doctor", "what works, what does not, and how to fix it"],
    ["tieline doctor --repair", "when the mailbox is damaged"],
  ],
  async run({ flags, daemon, runningDaemon, home, terminal }) {
    if (flags.repair) return repairMailbox({ flags, runningDaemon, home, terminal });
    const checks = await examine(daemon);
    if (flags.json) await terminal.json(checks);
    else {
      const width = Math.max(...checks.map(({ name }) => name.length));
      await terminal.print(checks.flatMap((check) => lines(check, width, terminal.paint)));
    }
    return checks.some(({ status }) => status === "failed") ? 5 : 0;
  },
});

async function repairMailbox({
  flags,
  runningDaemon,
  home,
  terminal,
}: Pick<Context, "flags" | "runningDaemon" | "home" | "terminal">): Promise<number> {
  const { repair } = await import("../../compose/offline.ts");
  const { withoutDaemon } = await import("../daemon/maintain.ts");
  const repaired = await withoutDaemon(home, runningDaemon, "the mailbox is being repaired", () =>
    repair(home, terminal.now()),
  );
  if (flags.json) await terminal.json(repaired ?? { problem: null });
  else
    await terminal.print(
      repaired === null ? "the mailbox is not damaged; nothing to repair" : repairLines(repaired, terminal.paint),
    );
  return 0;
}

function repairLines(repaired: Repaired, paint: Paint): string[] {
  const {
    problem,
    messages,
    deliveries,
    documents,
    uncertain,
    damaged,
    withoutDelivery,
    withoutMessage,
    lostDeliveries,
    kept,
  } = repaired;
  const lost = [
    ...(withoutMessage.length === 0
      ? []
      : [`  lost: ${counted(withoutMessage.length, "message")}, ${perName(withoutMessage)}`]),
    ...(damaged.length === 0 ? [] : [`  altered, never delivered: ${damaged.length}${named(damaged)}`]),
    ...(withoutDelivery.length === 0
      ? []
      : [`  recipients lost, never delivered: ${withoutDelivery.length}${named(withoutDelivery)}`]),
    ...(lostDeliveries === 0
      ? []
      : [`  lost: ${counted(lostDeliveries, "delivery", "deliveries")}, of which only the history is left`]),
  ];
  const saved = [
    counted(messages, "message"),
    counted(deliveries, "delivery", "deliveries"),
    `${counted(documents, "record")} of agents and teams`,
  ];
  return [
    `${paint("yellow", "!")} ${problem}`,
    `${paint("green", "✓")} saved ${saved.join(", ")}${messages === 0 ? "; the mailbox starts empty" : ""}`,
    ...(lost.length === 0 ? ["  nothing known to be lost"] : lost),
    `  uncertain now: ${uncertain.length}${named(uncertain)}`,
    ...uncertainRemedy(uncertain),
    ...(kept === null ? [] : [`  the damaged mailbox is kept as ${kept}`]),
  ];
}

/** "2 for ana, 1 for bob" */
function perName(names: readonly string[]): string {
  const counts = Map.groupBy(names, (name) => name);
  return [...counts].map(([name, all]) => `${all.length} for ${name}`).join(", ");
}

/** A daemon that cannot be reached is the first finding, not the end of the examination. */
async function examine(daemon: Context["daemon"]): Promise<Check[]> {
  try {
    return await daemon.call("doctor", {});
  } catch (thrown) {
    const { code, message, remedy } = asTielineError(thrown);
    return [{ name: "daemon", status: "failed", detail: `${code}: ${message}`, remedy }];
  }
}

const marks: Record<Check["status"], readonly [string, TextStyle]> = {
  ok: ["✓", "green"],
  warning: ["!", "yellow"],
  failed: ["✗", "red"],
};

function lines({ name, status, detail, remedy }: Check, width: number, paint: Paint): string[] {
  const [mark, style] = marks[status];
  const head = `${paint(style, mark)} ${paint("bold", name.padEnd(width))}   ${detail}`;
  return remedy === null || status === "ok" ? [head] : [head, `  ${" ".repeat(width + 3)}${paint("dim", remedy)}`];
}
