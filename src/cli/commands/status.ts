import type { StoryView } from "../../api/schema.ts";
import type { Client } from "../../client/client.ts";
import { exitWords, tellingLines } from "../../model/agent.ts";
import { command } from "../args.ts";
import { receiptLines, recipientIn } from "../receipts.ts";
import type { Paint } from "../terminal.ts";
import { clockTime, span } from "../times.ts";
import { present } from "../present.ts";

export default command({
  name: "status",
  group: "Messages",
  summary: "tell what became of a message, step by step",
  usage: ["status <tag>"],
  args: [{ name: "tag", complete: "tag", summary: "the message, such as MSG_USER_7f3a91c2" }],
  flags: {},
  examples: [
    ["tieline status MSG_USER_7f3a91c2", "the whole story with times and reasons"],
    ["tieline status MSG_USER_7f3a91c2 --json | jq -r '.deliveries[].state'", "for scripts"],
  ],
  async run({ args, flags, daemon, terminal }) {
    const story = await daemon.call("status", { tag: args.tag });
    const lines = flags.json ? [] : [...tell(story, terminal.paint, Date.now()), ...(await exits(story, daemon))];
    return present(story, lines, { flags, terminal });
  },
});

const shownLines = 5;

/** How the programs ended that keep the message waiting. */
async function exits(story: StoryView, daemon: Client): Promise<string[]> {
  const waiting = new Map(
    story.deliveries.filter(({ state }) => state === "queued" || state === "failed").map((one) => [one.agentId, one]),
  );
  if (waiting.size === 0) return [];
  const agents = await daemon.call("ls", { all: true });
  return agents.flatMap(({ id, exit }) => {
    const delivery = waiting.get(id);
    if (delivery === undefined || exit === null) return [];
    return [
      "",
      `${recipientIn(story, delivery)}: \`${exit.command}\` ${exitWords(exit)}`,
      ...tellingLines(exit.output, shownLines).map((line) => `  | ${line}`),
    ];
  });
}

function tell(story: StoryView, paint: Paint, now: number): string[] {
  const facts = [
    `${story.from} → ${story.to}`,
    `team ${story.team}`,
    `known by ${story.knownBy}`,
    `when: ${story.when}`,
    ...(story.answers === null ? [] : [`answers ${story.answers}`]),
    ...(story.expiresAt === null ? [] : [expiry(story.expiresAt, now)]),
  ];
  return [
    `${paint("bold", story.tag)}   ${facts.join(" · ")}`,
    `  ${paint("dim", story.summary)}`,
    "",
    ...story.history.flatMap((step) => [
      ...(step.leftOut === undefined
        ? []
        : [paint("dim", `  … ${step.leftOut.toLocaleString("en")} earlier steps of waiting are not kept`)]),
      timelineRow(story, step, paint, now),
    ]),
    "",
    ...receiptLines(story, paint, now),
  ];
}

function expiry(expiresAt: number, now: number): string {
  return expiresAt > now ? `expires in ${span(expiresAt - now)}` : `expired ${span(now - expiresAt)} ago`;
}

/** `  09:12:44  +0.3 s  engineer  settle → delivered  by tmux, proof: screen` */
function timelineRow(story: StoryView, step: StoryView["history"][number], paint: Paint, now: number): string {
  const moved = step.from === step.to ? `stays ${step.to}` : `→ ${step.to}`;
  const how = [step.transport && `by ${step.transport}`, step.proof && `proof: ${step.proof}`, step.reason]
    .filter(Boolean)
    .join(", ");
  const agentWidth = Math.max(...story.deliveries.map((delivery) => recipientIn(story, delivery).length));
  const elapsed = `+${span(step.at - story.acceptedAt)}`;
  return [
    paint("dim", `  ${clockTime(step.at, now)}  ${elapsed.padStart(8)}`),
    recipientIn(story, step).padEnd(agentWidth),
    step.verb.padEnd(7),
    how === "" ? moved : `${moved}   ${paint("dim", how)}`,
  ].join("  ");
}
