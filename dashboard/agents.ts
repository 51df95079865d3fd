/** The cells of the agents: what is known of each, kept up to date by what happens. */
import { signal } from "@preact/signals";
import type { AgentView, ReceiptView, StreamedEvent } from "../src/client/browser.ts";
import { recipientOf } from "./messages.ts";
import * as state from "./state.ts";

const beatMinutes = 30;

export function setAgents(views: readonly AgentView[]): void {
  const ids = new Set(views.map(({ id }) => id));
  for (const id of [...state.agentById.keys()]) if (!ids.has(id)) state.agentById.delete(id);
  for (const view of views) {
    const cell = state.agentById.get(view.id);
    if (cell) cell.view.value = view;
    else state.agentById.set(view.id, newCell(view));
  }
  state.agents.value = views.map(({ id }) => state.agentById.get(id)!);
}

function newCell(view: AgentView): state.AgentCell {
  const { lastEvent } = view.activity;
  return {
    id: view.id,
    view: signal(view),
    tool: signal(view.state === "working" ? (lastEvent?.toolName ?? null) : null),
    last: signal(null),
    beats: signal([]),
  };
}

export function removeAgent(id: string): void {
  state.agentById.delete(id);
  state.agents.value = state.agents.value.filter((cell) => cell.id !== id);
}

export function update(id: string, change: Partial<AgentView>): void {
  const cell = state.agentById.get(id);
  if (cell) cell.view.value = { ...cell.view.value, ...change };
}

export function setTool(id: string, tool: string | null): void {
  const cell = state.agentById.get(id);
  if (cell) cell.tool.value = tool;
}

export function say(id: string, text: string, at: number): void {
  const cell = state.agentById.get(id);
  if (cell && (cell.last.value?.at ?? 0) <= at) cell.last.value = { text, at };
}

/** `beats` ends with the minute of the newest event; the card pads it up to now. */
const lastBeat = new Map<string, number>();

export function beat(event: StreamedEvent): void {
  const id = "agent" in event ? event.agent : null;
  const cell = id === null ? undefined : state.agentById.get(id);
  if (!cell) return;
  const minute = Math.floor(event.at / 60_000);
  const gap = minute - (lastBeat.get(cell.id) ?? minute);
  if (gap < 0) return;
  lastBeat.set(cell.id, minute);
  const beats = [...cell.beats.value, ...Array.from({ length: Math.min(gap, beatMinutes) }, () => 0)];
  if (beats.length === 0) beats.push(0);
  beats[beats.length - 1]! += 1;
  cell.beats.value = beats.slice(-beatMinutes);
}

export function beatsUpTo(cell: state.AgentCell, at: number): readonly number[] {
  const gap = Math.min(beatMinutes, Math.max(0, Math.floor(at / 60_000) - (lastBeat.get(cell.id) ?? 0)));
  const padded = [
    ...Array.from({ length: beatMinutes }, () => 0),
    ...cell.beats.value,
    ...Array.from({ length: gap }, () => 0),
  ];
  return padded.slice(-beatMinutes);
}

/** The newest message of each agent, whichever way it went. */
export function heed(receipts: readonly ReceiptView[]): void {
  const byName = new Map(
    state.agents.value.map((cell) => [`${cell.view.value.team}:${cell.view.value.name}`, cell.id]),
  );
  for (const receipt of receipts) {
    const { from, team, summary, acceptedAt, deliveries } = receipt;
    const sender = byName.get(`${team}:${from}`);
    if (sender !== undefined) say(sender, `→ ${recipientOf(receipt)}: ${summary}`, acceptedAt);
    for (const { agentId } of deliveries) say(agentId, `${from}: ${summary}`, acceptedAt);
  }
}

export function presenceIn(agentState: AgentView["state"]): AgentView["presence"] {
  return agentState === "gone" || agentState === "suspended" || agentState === "done" ? "offline" : "active";
}
