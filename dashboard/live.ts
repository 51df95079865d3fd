/** Loads what is there, then follows what happens. Every event is applied in the frame after it came. */
import { batch, effect, signal } from "@preact/signals";
import { streamEvents, TielineError, type StreamedEvent } from "../src/client/browser.ts";
import { failureOf, tell } from "./actions.ts";
import { beat, heed, presenceIn, removeAgent, say, setAgents, setTool, update } from "./agents.ts";
import { daemon, inTeam, session } from "./api.ts";
import { adopt } from "./kept.ts";
import { applyDelivery, mergeReceipts, noteFact, receiptIn, type DeliveryFact } from "./messages.ts";
import { catchUp, queueChanged, refresh, refreshOwn, refreshTopologies, refreshWaiting, soon } from "./refresh.ts";
import { signInLink, view } from "./route.ts";
import * as state from "./state.ts";
import { streamSlots } from "./streamSlots.ts";

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
      await signIn();
      const { last } = await load();
      await follow(last);
    } catch (thrown) {
      if (thrown instanceof TielineError && thrown.code === "SESSION_EXPIRED") {
        state.signedOut.value = { reason: thrown.message, isExpired: state.agents.peek().length > 0 };
        state.connection.value = "signed out";
        await another();
        continue;
      }
      state.connection.value = lostTo(thrown);
      if (!(thrown instanceof TielineError)) tell(failureOf(thrown).message, { bad: true });
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

/** Uses the link that the page was opened with. It stays until a daemon has answered. */
async function signIn(): Promise<void> {
  const link = signInLink.peek();
  if (link === null) return;
  try {
    await session.signIn(link);
    signInLink.value = null;
  } catch (thrown) {
    if (!(thrown instanceof TielineError) || thrown.code !== "SESSION_EXPIRED") throw thrown;
    signInLink.value = null;
    // The link was used before, perhaps by this browser.
    if (!(await isSignedIn())) throw thrown;
  }
}

const isSignedIn = (): Promise<boolean> =>
  inTeam(null)
    .call("whoami", {})
    .then(
      () => true,
      () => false,
    );

/** Another link was opened here, or the user has come back, perhaps from signing in in another tab. */
function another(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const over = new AbortController();
  const stop = signInLink.subscribe((link) => link !== null && resolve());
  document.addEventListener("visibilitychange", () => document.hidden || resolve(), { signal: over.signal });
  window.addEventListener("focus", () => resolve(), { signal: over.signal });
  return promise.finally(() => {
    stop();
    over.abort();
  });
}

const lostTo = (problem: unknown): state.Connection =>
  problem instanceof TielineError && problem.operands["stranger"] === true ? "stranger" : "away";

async function load(): Promise<{ last: number }> {
  const client = inTeam(null);
  const [events, agents, log, last, preferences] = await Promise.all([
    client.call("events", { limit: pastEvents }),
    client.call("ls", { all: true }),
    client.call("log", { limit: 200 }),
    client.call("lastMessages", {}),
    client.call("preferences", {}),
  ]);
  batch(() => {
    adopt(preferences);
    setAgents(agents);
    mergeReceipts(log);
    heed([...last, ...log]);
    state.hasOlder.value = log.length === 200;
    if (state.readUpTo.value === "") state.readUpTo.value = log.at(-1)?.id ?? "0";
    for (const event of events.events) applyPast(event);
    state.connection.value = "live";
  });
  await Promise.all([refreshWaiting(), refreshTopologies()]);
  state.isSettled.value = true;
  return events;
}

const slots = streamSlots(navigator.locks, new BroadcastChannel("tieline"), document);
const pollMs = 500;

/** What happens from here on: by a stream, or by asking while too many tabs have one. */
async function follow(from: number): Promise<void> {
  let after = from;
  const enqueueNew = (event: StreamedEvent): void => {
    after = event.seq;
    enqueue(event);
  };
  for (;;) {
    const gaveWay = await slots.use((needed) => stream(after, needed, enqueueNew));
    const { events, last } = await inTeam(null).call("events", { after });
    events.forEach(enqueueNew);
    after = last;
    // The visible tab comes first.
    await new Promise((resolve) => setTimeout(resolve, gaveWay ? 4 * pollMs : pollMs));
  }
}

async function stream(after: number, needed: AbortSignal, onEvent: (event: StreamedEvent) => void): Promise<void> {
  const onConnection = (connected: boolean, problem?: TielineError): void => {
    const back = connected && state.connection.value !== "live";
    state.connection.value = connected ? "live" : lostTo(problem);
    if (!connected) session.distrust();
    if (back) soon(refresh);
  };
  for await (const event of streamEvents(daemon, {}, { after, onConnection }, needed)) onEvent(event);
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
  batch(() => {
    const accepted = events.flatMap((event) => (event.type === "message.accepted" ? (receiptIn(event) ?? []) : []));
    mergeReceipts(accepted);
    heed(accepted);
    events.forEach(apply);
  });
  const { at } = events[0]!;
  // A task that is made while a frame is drawn runs after it.
  setTimeout(() => (lagMs.value = Date.now() - at));
}

/** A reloaded page gets the past events again. */
let countedUpTo = 0;

function applyPast(event: StreamedEvent): void {
  if (event.seq <= countedUpTo) return;
  countedUpTo = event.seq;
  beat(event);
  if (event.type === "route.denied") denied(event);
  if (event.type === "tool.call") setTool(event.agent, event.tool);
  if (event.type === "agent.response") say(event.agent, event.summary, event.at);
}

function apply(event: StreamedEvent): void {
  applyPast(event);
  watchers.forEach((watch) => watch(event));
  switch (event.type) {
    case "message.accepted":
      if (event.message === undefined) soon(catchUp);
      return;
    case "agent.registered":
      return soon(refresh);
    case "agent.removed":
      return removeAgent(event.agent);
    case "agent.changed":
      if (!state.agentById.has(event.agent)) return soon(refresh);
      if (hasStarted(event)) soon(refresh);
      if (event.state !== "working") setTool(event.agent, null);
      return update(event.agent, {
        state: event.state,
        reason: event.reason,
        presence: presenceIn(event.state),
        lastActivityAt: event.at,
      });
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

/** A program that has just come up has a pane, endpoints and a conversation that the event does not name. */
function hasStarted({ agent, state: now }: Extract<StreamedEvent, { type: "agent.changed" }>): boolean {
  const before = state.agentById.get(agent)?.view.peek();
  const isDown = (one: string): boolean => ["starting", "gone", "suspended", "done"].includes(one);
  return before !== undefined && isDown(before.state) && before.state !== now;
}

const open = (one: string | null): number => (one === "queued" || one === "claimed" || one === "uncertain" ? 1 : 0);

function delivery(event: DeliveryFact): void {
  noteFact(event);
  applyDelivery(event);
  const cell = state.agentById.get(event.agent);
  if (cell) {
    const { pending } = cell.view.peek();
    const held =
      event.to !== "queued"
        ? { held: null, heldAt: null }
        : event.reason === null
          ? {}
          : { held: event.detail ?? event.reason, heldAt: cell.view.value.heldAt ?? event.at };
    update(event.agent, { pending: Math.max(0, pending + open(event.to) - open(event.from)), ...held });
  }
  // A warning comes as a step without a change of state.
  const isWarning = event.to === "delivered" && event.from === "delivered";
  if (event.agent === "user" || isDead(event.to) || isDead(event.from) || isWarning) soon(refreshOwn);
  if (event.to === "uncertain" || event.from === "uncertain" || view.peek() === "queue") {
    queueChanged(event.agent);
  }
}

const isDead = (one: string | null): boolean => one === "failed" || one === "expired";

/** Others who want to see events as they happen, such as the graph. */
const watchers = new Set<(event: StreamedEvent) => void>();
export function onEvent(watch: (event: StreamedEvent) => void): () => void {
  watchers.add(watch);
  return () => watchers.delete(watch);
}

function denied({ at, team, from, to, allowed }: Extract<StreamedEvent, { type: "route.denied" }>): void {
  state.denials.value = [...state.denials.value.slice(-99), { at, team, from, to, allowed }];
}
