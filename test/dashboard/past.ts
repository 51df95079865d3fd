/** An hour that the team has behind it, told to a page that is made for a picture: charts of a minute say nothing. */
import type { Page } from "playwright-core";
import type { AgentView, Output } from "../../src/client/schema.ts";

type Past = Output<"events">["events"];

const minuteMs = 60_000;
/** How busy an agent was, in events a minute, at the height of its work. */
const busy: Readonly<Record<string, number>> = { engineer: 9, lead: 4, reviewer: 6, scout: 5, tester: 3, security: 3, docs: 2, release: 1 };
const tools = ["Read", "Edit", "Bash", "Grep"];
/** How many messages each transport carried a minute, and how long they took to be handed over and seen. */
const ways = [
  { transport: "tmux", perMinute: 5, handedMs: 60, seenMs: 900 },
  { transport: "claude-socket", perMinute: 9, handedMs: 12, seenMs: 180 },
  { transport: "pull", perMinute: 4, handedMs: 25, seenMs: 40 },
];

export async function tellPast(page: Page, agents: readonly AgentView[]): Promise<void> {
  const past = pastOf(agents, Date.now());
  await page.route(/\/v1\/events\?limit=/, async (route) => {
    const response = await route.fetch();
    const now = (await response.json()) as Output<"events">;
    await route.fulfill({ json: { ...now, events: [...past, ...now.events] } });
  });
  await page.route("**/metrics", (route) => route.fulfill({ contentType: "text/plain", body: metrics(agents) }));
}

function pastOf(agents: readonly AgentView[], now: number): Past {
  const events: object[] = [];
  for (let minute = 60; minute >= 1; minute--) {
    const at = now - minute * minuteMs;
    for (const agent of agents) for (let count = tide(agent.name, minute) * (busy[agent.name] ?? 0); count >= 1; count--) events.push({ at, type: "tool.call", agent: agent.id, name: agent.name, team: agent.team, tool: tools[Math.floor(count) % tools.length], input: {} });
    for (const { transport, perMinute, handedMs, seenMs } of ways) {
      const level = 0.6 + tide(transport, minute);
      for (let count = tide("mail", minute) * perMinute; count >= 0.5; count--) {
        events.push({ at, type: "message.accepted", team: "web", from: "lead", to: "engineer", recipients: [], id: "", tag: "" });
        events.push({ at, type: "delivery.handed", from: "claimed", to: "handed", transport, acceptedAt: at - handedMs * level });
        events.push({ at, type: "delivery.seen", from: "handed", to: "seen", transport, acceptedAt: at - seenMs * level });
      }
    }
  }
  // Before the first real one, in their order.
  return events.map((event, index) => ({ ...event, seq: (index + 1) / 1e6 })) as unknown as Past;
}

/** Between 0 and 1, the same for the same name: work comes and goes. */
function tide(name: string, minute: number): number {
  const phase = [...name].reduce((sum, character) => sum + character.charCodeAt(0), 0);
  return Math.max(0, (Math.sin(minute / 7 + phase) + Math.sin(minute / 2.3 + phase * 2) * 0.5 + 0.6) / 2.1);
}

const counted: readonly (readonly [series: string, value: number])[] = [
  ...(["busy 84", "draft 17", "permission 12", "starting 6", "offline 3"].map((line) => [`tieline_holds_total{reason="${line.split(" ")[0]}"}`, Number(line.split(" ")[1])] as const)),
  ...([["lead", "engineer", 96], ["engineer", "reviewer", 71], ["reviewer", "lead", 54], ["lead", "tester", 33], ["engineer", "scout", 29], ["scout", "lead", 27], ["user", "lead", 14], ["lead", "user", 9]] as const).map(([from, to, value]) => [`tieline_edge_messages_total{from="${from}",to="${to}"}`, value] as const),
  ...([["seen", "claude-socket", 204], ["seen", "tmux", 81], ["handed", "tmux", 22], ["answered", "claude-socket", 47], ["seen", "pull", 38], ["expired", "tmux", 1]] as const).map(([state, transport, value]) => [`tieline_deliveries_total{state="${state}",transport="${transport}"}`, value] as const),
];

const metrics = (agents: readonly AgentView[]): string => [...counted, ["tieline_agents", agents.length] as const].map(([series, value]) => `${series} ${value}`).join("\n");
