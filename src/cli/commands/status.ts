import type { HistoryView } from "../../api/schema.ts";
import type { Client } from "../../client/client.ts";
import { exitWords, tellingLines } from "../../model/agent.ts";
import { command } from "../input/args.ts";
import { receiptLines, recipientIn } from "../output/receipts.ts";
import type { Paint } from "../output/terminal.ts";
import { clockTime, span } from "../input/times.ts";
import { present } from "../output/present.ts";

export default command({
  name: "status",
  group: "Messages",
  operation: "status",
  usage: ["status <tag>"],
  args: [{ name: "tag", complete: "tag", field: "tag" }],
  flags: {},
  examples: [
    ["tieline status MSG_USER_7f3a91c2", "every step, with times and reasons"],
    ["tieline status MSG_USER_7f3a91c2 --json | jq -r '.deliveries[].state'", "for scripts"],
  ],
  async run({ input, flags, daemon, terminal }) {
    const history = await daemon.call("status", input);
    const lines = flags.json
      ? []
      : [...tell(history, terminal.paint, terminal.now()), ...(await exits(history, daemon))];
    return present(history, lines, { flags, terminal });
  },
});

const shownLines = 5;

/** How the programs ended that keep the message waiting. */
async function exits(history: HistoryView, daemon: Client): Promise<string[]> {
  const waiting = new Map(
    history.deliveries.filter(({ state }) => state === "queued" || state === "failed").map((one) => [one.agentId, one]),
  );
  if (waiting.size === 0) return [];
  const agents = await daemon.call("ls", { all: true });
  return agents.flatMap(({ id, exit }) => {
    const delivery = waiting.get(id);
    if (delivery === undefined || exit === null) return [];
    return [
      "",
      `${recipientIn(history, delivery)}: \`${exit.command}\` ${exitWords(exit)}`,
      ...tellingLines(exit.output, shownLines).map((line) => `  | ${line}`),
    ];
  });
}

function tell(history: HistoryView, paint: Paint, now: number): string[] {
  const facts = [
    `${history.from} → ${history.to}`,
    `team ${history.team}`,
    `known by ${history.knownBy}`,
    `when: ${history.when}`,
    ...(history.answers === null ? [] : [`answers ${history.answers}`]),
    ...(history.expiresAt === null ? [] : [expiry(history.expiresAt, now)]),
  ];
  return [
    `${paint("bold", history.tag)}   ${facts.join(" · ")}`,
    `  ${paint("dim", history.summary)}`,
    "",
    ...history.steps.flatMap((step) => [
      ...(step.leftOut === undefined
        ? []
        : [paint("dim", `  … ${step.leftOut.toLocaleString("en")} earlier steps of waiting are not kept`)]),
      timelineRow(history, step, paint, now),
    ]),
    "",
    ...receiptLines(history, paint, now),
  ];
}

function expiry(expiresAt: number, now: number): string {
  return expiresAt > now ? `expires in ${span(expiresAt - now)}` : `expired ${span(now - expiresAt)} ago`;
}

/** `  09:12:44  +0.3 s  engineer  settle → delivered  by tmux, proof: screen` */
function timelineRow(history: HistoryView, step: HistoryView["steps"][number], paint: Paint, now: number): string {
  const moved = step.from === step.to ? `stays ${step.to}` : `→ ${step.to}`;
  const how = [step.transport && `by ${step.transport}`, step.proof && `proof: ${step.proof}`, step.reason]
    .filter(Boolean)
    .join(", ");
  const agentWidth = Math.max(...history.deliveries.map((delivery) => recipientIn(history, delivery).length));
  const elapsed = `+${span(step.at - history.acceptedAt)}`;
  return [
    paint("dim", `  ${clockTime(step.at, now)}  ${elapsed.padStart(8)}`),
    recipientIn(history, step).padEnd(agentWidth),
    step.verb.padEnd(7),
    how === "" ? moved : `${moved}   ${paint("dim", how)}`,
  ].join("  ");
}
