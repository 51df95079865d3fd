/** Loads what is there, then follows what happens. Every event is applied in the frame after it came. */
import { batch, effect, signal } from "@preact/signals";
import { streamEvents, TielineError, type AgentView, type ReceiptView, type StreamedEvent } from "../src/client/browser.ts";
import { daemon, inTeam } from "./api.ts";
import { failureOf, tell } from "./actions.ts";
import { applyDelivery, mergeReceipts, noteFact, recipientOf, replay, type DeliveryFact } from "./messages.ts";
import { view } from "./route.ts";
import * as state from "./state.ts";

const beatMinutes = 30;
const pastEvents = 5_000;

/** How long it took from the oldest of the last events until it was drawn. */
export const lagMs = signal<number | null>(null);

export async function start(): Promise<void> {
  effect(() => {
    if (view.value === "queue" && state.connection.peek() === "live") soon(refreshWaiting);
  });
  setInterval(() => (state.now.value = Date.now()), 10_000);
  for (;;) {
    try {
      const { last } = await load();
      await follow(last);
    } catch (thrown) {
      if (thrown instanceof TielineError && thrown.code === "IDENTITY_UNKNOWN") {
        state.connection.value = "refused";
        return;
      }
      state.connection.value = "away";
      if (!(thrown instanceof TielineError)) tell(failureOf(thrown).message, { bad: true });
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

async function load(): Promise<{ last: number }> {
  const client = inTeam(null);
  const [events, agents, log] = await Promise.all([client.call("events", { limit: pastEvents }), client.call("ls", { all: true }), client.call("log", { limit: 200 })]);
  batch(() => {
    setAgents(agents);
    mergeReceipts(log);
    heed(log);
    state.hasOlder.value = log.length === 200;
    if (state.readUpTo.value === "") state.readUpTo.value = log.at(-1)?.id ?? "0";
    for (const event of events.events) applyPast(event);
    state.connection.value = "live";
  });
  await Promise.all([refreshWaiting(), refreshTopologies()]);
  return events;
}

async function follow(after: number): Promise<void> {
  const onConnection = (connected: boolean): void => {
    const back = connected && state.connection.value === "away";
    state.connection.value = connected ? "live" : "away";
    if (back) void refresh();
  };
  for await (const event of streamEvents(daemon, {}, { after, onConnection })) enqueue(event);
}

let queued: StreamedEvent[] = [];

function enqueue(event: StreamedEvent): void {
  queued.push(event);
  if (queued.length > 1) return;
  // A hidden page draws no frames, and still has a title to keep right.
  if (document.hidden) setTimeout(flush, 200);
  else requestAnimationFrame(flush);
}

function flush(): void {
  const events = queued;
  queued = [];
  batch(() => events.forEach(apply));
  const { at } = events[0]!;
  // A task that is made while a frame is drawn runs after it.
  setTimeout(() => (lagMs.value = Date.now() - at));
}

function applyPast(event: StreamedEvent): void {
  beat(event);
  measure(event);
  if (event.type === "route.denied") denied(event);
  if (event.type === "tool.call") setTool(event.agent, event.tool);
  if (event.type === "agent.response") say(event.agent, event.summary, event.at);
}

function apply(event: StreamedEvent): void {
  applyPast(event);
  watchers.forEach((watch) => watch(event));
  switch (event.type) {
    case "message.accepted":
      return fetchNew();
    case "agent.registered":
      return soon(refresh);
    case "agent.removed":
      return removeAgent(event.agent);
    case "agent.changed":
      if (!state.agentById.has(event.agent)) return soon(refresh);
      if (event.state !== "working") setTool(event.agent, null);
      return update(event.agent, { state: event.state, reason: event.reason, presence: presenceIn(event.state), lastActivityAt: event.at });
    case "route.denied":
    case "route.routed":
    case "message.sent":
    case "tool.call":
    case "user.prompt":
    case "agent.response":
      return;
    default:
      return delivery(event);
  }
}

const open = (one: string | null): number => (one === "queued" || one === "claimed" || one === "uncertain" ? 1 : 0);

function delivery(event: DeliveryFact): void {
  noteFact(event);
  applyDelivery(event);
  const cell = state.agentById.get(event.agent);
  if (cell) {
    const { pending } = cell.view.peek();
    const held = event.to !== "queued" ? { held: null, heldAt: null } : event.reason === null ? {} : { held: event.detail ?? event.reason, heldAt: cell.view.value.heldAt ?? event.at };
    update(event.agent, { pending: Math.max(0, pending + open(event.to) - open(event.from)), ...held });
  }
  if (event.agent === "user" || isDead(event.to) || isDead(event.from)) soon(refreshOwn);
  if (event.to === "uncertain" || event.from === "uncertain" || view.peek() === "queue") {
    dirty.add(event.agent);
    soon(refreshQueues);
  }
}

const isDead = (one: string | null): boolean => one === "failed" || one === "expired";

/** Others who want to see events as they happen, such as the graph. */
const watchers = new Set<(event: StreamedEvent) => void>();
export function onEvent(watch: (event: StreamedEvent) => void): () => void {
  watchers.add(watch);
  return () => watchers.delete(watch);
}

function presenceIn(agentState: AgentView["state"]): AgentView["presence"] {
  return agentState === "gone" || agentState === "suspended" || agentState === "done" ? "terminated" : "active";
}

export async function refresh(): Promise<void> {
  const agents = await inTeam(null).call("ls", { all: true });
  batch(() => setAgents(agents));
  await Promise.all([refreshWaiting(), refreshTopologies(), catchUp()]);
}

/** All that waits, read anew. */
export async function refreshWaiting(): Promise<void> {
  for (const { id, view: agent } of state.agents.peek()) if (agent.peek().pending > 0) dirty.add(id);
  for (const { agent, team } of state.queue.peek()) dirty.add(idOf(agent, team));
  await Promise.all([refreshOwn(), refreshQueues()]);
}

const idOf = (name: string, team: string): string => state.agents.peek().find(({ view: { value } }) => value.name === name && value.team === team)?.id ?? "";

/** The person's own mail, and dead letters. */
async function refreshOwn(): Promise<void> {
  const [mail, dead] = await Promise.all([inTeam(null).call("inbox", { agent: "user", pending: true, peek: true, limit: 200 }), inTeam(null).call("dead", { limit: 100 })]);
  batch(() => {
    state.ownMail.value = mail;
    state.deadLetters.value = dead;
  });
}

/** Agents whose queue is not as it was when it was read. */
const dirty = new Set<string>();
const queuesAtOnce = 40;

async function refreshQueues(): Promise<void> {
  const ids = [...dirty].slice(0, queuesAtOnce);
  for (const id of ids) dirty.delete(id);
  const read = await Promise.all(
    ids.map(async (id) => {
      const agent = state.agentById.get(id)?.view.peek();
      if (agent === undefined || agent.kind === "person") return [];
      const rows = await inTeam(agent.team).call("inbox", { agent: agent.name, pending: true, peek: true, limit: 100 });
      return rows.map((row) => ({ ...row, agent: agent.name, team: agent.team }));
    }),
  );
  state.queue.value = [...state.queue.peek().filter(({ agent, team }) => !ids.includes(idOf(agent, team))), ...read.flat()];
  if (dirty.size > 0) soon(refreshQueues);
}

export async function refreshTopologies(): Promise<void> {
  const names = state.teamNames.value;
  const found = await Promise.all(names.map((name) => inTeam(name).call("topology", {})));
  state.topologies.value = new Map(found.map((topology) => [topology.team, topology]));
}

/** At most one run at a time, with a pause between two, and one more when it was asked for meanwhile. */
const pauseMs = 200;
const running = new Map<() => Promise<void>, { again: boolean }>();
function soon(work: () => Promise<void>): void {
  const before = running.get(work);
  if (before) return void (before.again = true);
  const run = { again: false };
  running.set(work, run);
  setTimeout(() => {
    work()
      .catch((thrown: unknown) => {
        if (state.connection.value === "live") tell(failureOf(thrown).message, { bad: true });
      })
      .finally(() => {
        setTimeout(() => {
          running.delete(work);
          if (run.again) soon(work);
        }, pauseMs);
      });
  }, 30);
}

const fetchNew = (): void => soon(catchUp);

async function catchUp(): Promise<void> {
  const newest = state.timeline.value.at(-1)?.receipt.peek().acceptedAt ?? 0;
  const receipts: ReceiptView[] = await inTeam(null).call("log", { since: newest, limit: 1_000 });
  batch(() => {
    mergeReceipts(receipts);
    replay(receipts);
    heed(receipts);
  });
}

/** The newest message of each agent, whichever way it went. */
function heed(receipts: readonly ReceiptView[]): void {
  const byName = new Map(state.agents.value.map((cell) => [`${cell.view.value.team}:${cell.view.value.name}`, cell.id]));
  for (const receipt of receipts) {
    const { from, team, summary, acceptedAt, deliveries } = receipt;
    const told = (name: string, text: string): void => {
      const id = byName.get(`${team}:${name}`);
      if (id !== undefined) say(id, text, acceptedAt);
    };
    told(from, `→ ${recipientOf(receipt)}: ${summary}`);
    for (const { agent } of deliveries) told(agent, `${from}: ${summary}`);
  }
}

function setAgents(views: readonly AgentView[]): void {
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
  return { id: view.id, view: signal(view), tool: signal(view.state === "working" ? (lastEvent?.toolName ?? null) : null), last: signal(null), beats: signal([]) };
}

function removeAgent(id: string): void {
  state.agentById.delete(id);
  state.agents.value = state.agents.value.filter((cell) => cell.id !== id);
}

function update(id: string, change: Partial<AgentView>): void {
  const cell = state.agentById.get(id);
  if (cell) cell.view.value = { ...cell.view.value, ...change };
}

function setTool(id: string, tool: string | null): void {
  const cell = state.agentById.get(id);
  if (cell) cell.tool.value = tool;
}

function say(id: string, text: string, at: number): void {
  const cell = state.agentById.get(id);
  if (cell && (cell.last.value?.at ?? 0) <= at) cell.last.value = { text, at };
}

/** `beats` ends with the minute of the newest event; the card pads it up to now. */
const lastBeat = new Map<string, number>();

function beat(event: StreamedEvent): void {
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
  const padded = [...Array.from({ length: beatMinutes }, () => 0), ...cell.beats.value, ...Array.from({ length: gap }, () => 0)];
  return padded.slice(-beatMinutes);
}

function measure(event: StreamedEvent): void {
  if (event.type === "message.accepted") state.acceptedAt.value = [...state.acceptedAt.value.slice(-20_000), event.at];
  if ((event.type !== "delivery.handed" && event.type !== "delivery.seen") || event.from === event.to) return;
  const sample: state.Sample = { at: event.at, ms: event.at - event.acceptedAt, stage: event.type === "delivery.seen" ? "seen" : "handed", transport: event.transport ?? "unknown" };
  state.samples.value = [...state.samples.value.slice(-5_000), sample];
}

function denied({ at, team, from, to, allowed }: Extract<StreamedEvent, { type: "route.denied" }>): void {
  state.denials.value = [...state.denials.value.slice(-99), { at, team, from, to, allowed }];
}
