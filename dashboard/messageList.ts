/**
 * The messages that the view lists: the timeline, or what the daemon finds for the filters. The daemon counts, so that
 * the numbers are true however few messages are loaded.
 */
import { computed, effect, signal } from "@preact/signals";
import type { DeliveryView, Input, StreamedEvent } from "../src/client/browser.ts";
import { failureOf } from "./actions.ts";
import { inTeam } from "./api.ts";
import { onEvent } from "./live.ts";
import { cellOf, loadOlder as loadOlderOfAll, replay } from "./messages.ts";
import { soon } from "./refresh.ts";
import { addressParam, param, setParams } from "./route.ts";
import { connection, readUpTo, search, team, timeline, type MessageCell } from "./state.ts";

type State = DeliveryView["state"];

/** A message matches if one of its deliveries is in one of these states. */
const statesOf = {
  "any state": null,
  open: ["queued", "claimed", "uncertain"],
  "not delivered": ["failed", "expired"],
  delivered: ["delivered"],
  seen: ["seen", "answered"],
  cancelled: ["cancelled"],
  unread: null,
} as const satisfies Record<string, readonly State[] | null>;
export type StateFilter = keyof typeof statesOf;
export const stateFilters = Object.keys(statesOf) as StateFilter[];

const hourMs = 3_600_000;
const spans = { "any time": null, "last hour": hourMs, "last day": 24 * hourMs, "last week": 168 * hourMs } as const;
export type RangeFilter = keyof typeof spans;
export const rangeFilters = Object.keys(spans) as RangeFilter[];

export const stateFilter = addressParam<StateFilter>("state", stateFilters, "any state");
export const rangeFilter = addressParam<RangeFilter>("range", rangeFilters, "any time");
/** An agent's address; empty: all agents. */
export const agentFilter = {
  get value(): string {
    return param("agent") ?? "";
  },
  set value(address: string) {
    setParams({ agent: address });
  },
};

export function clearFilters(): void {
  search.value = "";
  setParams({ agent: null, state: null, range: null, team: null, q: null });
}

type Query = Omit<Input<"log">, "limit" | "before">;

/** What the daemon is asked, without what moves with time; null: everything is listed. */
const wanted = computed<Query | null>(() => {
  const states = statesOf[stateFilter.value];
  const words = search.value.trim();
  const query: Query = {
    ...(team.value !== null && { team: team.value }),
    ...(agentFilter.value !== "" && { agent: agentFilter.value }),
    ...(states !== null && { states: [...states] }),
    // What was unread when the filter was chosen stays listed while it is read.
    ...(stateFilter.value === "unread" && { after: readUpTo.peek() }),
    ...(words !== "" && { grep: words.slice(0, longestSearch) }),
  };
  return Object.keys(query).length === 0 && rangeFilter.value === "any time" ? null : query;
});
const longestSearch = 1_000;
const pageSize = 200;

/** Changes with the filters: a new list begins at its end. */
export const listKey = computed(() => JSON.stringify([wanted.value, rangeFilter.value]));
export const isFiltered = computed(() => wanted.value !== null);

interface Found {
  readonly cells: readonly MessageCell[];
  /** How many match; null: not known yet. */
  readonly count: number | null;
  readonly hasOlder: boolean;
  readonly failure: string | null;
}
const nothing: Found = { cells: [], count: null, hasOlder: false, failure: null };
const found = signal<Found>(nothing);
/** How many messages there are; null: not known yet. */
const all = signal<number | null>(null);

export const failure = computed(() => (wanted.value === null ? null : found.value.failure));

/** `39 of 2,050 messages`; null: not known yet. */
export const countText = computed(() => {
  const total = all.value?.toLocaleString();
  if (total === undefined) return null;
  if (wanted.value === null) return `${total} ${all.value === 1 ? "message" : "messages"}`;
  return found.value.count === null ? null : `${found.value.count.toLocaleString()} of ${total} messages`;
});
/** The list is known to be empty. */
export const isEmpty = computed(() => (wanted.value === null ? all.value === 0 : found.value.count === 0));

export const rows = computed<readonly MessageCell[]>(() => {
  if (wanted.value === null) return timeline.value;
  const states: readonly State[] | null = statesOf[stateFilter.value];
  if (states === null) return found.value.cells;
  return found.value.cells.filter(({ receipt }) =>
    receipt.value.deliveries.some(({ state }) => states.includes(state)),
  );
});

function timed(query: Query): Query {
  const span = spans[rangeFilter.value];
  return span === null ? query : { ...query, since: Date.now() - span };
}

/** Each change of the filters is a search of its own; the answer to an earlier one is dropped. */
let asked = 0;

async function find(query: Query): Promise<void> {
  const mine = ++asked;
  try {
    const client = inTeam(null);
    const full = timed(query);
    const [page, { count }] = await Promise.all([
      client.call("log", { ...full, limit: pageSize }),
      client.call("logCount", full),
    ]);
    if (mine !== asked) return;
    const cells = page.map(cellOf);
    replay(page);
    found.value = { cells, count, hasOlder: page.length === pageSize, failure: null };
  } catch (thrown) {
    if (mine === asked) found.value = { ...nothing, failure: failureOf(thrown).message };
  }
}

/** What came or changed since: the newest that match, and the counts. */
async function refreshList(): Promise<void> {
  const query = wanted.peek();
  const client = inTeam(null);
  all.value = (await client.call("logCount", {})).count;
  if (query === null) return;
  const mine = asked;
  const full = timed(query);
  const [page, { count }] = await Promise.all([
    client.call("log", { ...full, limit: 50 }),
    client.call("logCount", full),
  ]);
  if (mine !== asked) return;
  replay(page);
  found.value = { ...found.peek(), cells: merged(found.peek().cells, page.map(cellOf)), count };
}

function merged(known: readonly MessageCell[], more: readonly MessageCell[]): readonly MessageCell[] {
  const cells = new Map([...known, ...more].map((cell) => [cell.id, cell]));
  return cells.size === known.length ? known : [...cells.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

let loadingOlder: Promise<void> | null = null;

export function loadOlder(): Promise<void> {
  const query = wanted.peek();
  if (query === null) return loadOlderOfAll();
  const first = found.peek().cells[0];
  if (!found.peek().hasOlder || first === undefined) return Promise.resolve();
  const mine = asked;
  loadingOlder ??= inTeam(null)
    .call("log", { ...timed(query), before: first.id, limit: pageSize })
    .then((page) => {
      if (mine !== asked) return;
      found.value = {
        ...found.peek(),
        cells: merged(found.peek().cells, page.map(cellOf)),
        hasOlder: page.length === pageSize,
      };
    })
    .finally(() => (loadingOlder = null));
  return loadingOlder;
}

const typingMs = 120;
let typing: ReturnType<typeof setTimeout> | undefined;
let lastWords = "";

/** While the view is open, the list follows its filters and what happens. */
export function followList(): () => void {
  const stop = effect(() => {
    const query = wanted.value;
    void rangeFilter.value;
    if (connection.value !== "live") return;
    soon(refreshList);
    clearTimeout(typing);
    if (query === null) return void (found.value = nothing);
    const words = query.grep ?? "";
    const isTyping = words !== lastWords;
    lastWords = words;
    typing = setTimeout(() => void find(query), isTyping ? typingMs : 0);
  });
  const forget = onEvent((event) => concerns(event) && soon(refreshList));
  return () => {
    stop();
    forget();
    clearTimeout(typing);
  };
}

function concerns({ type }: StreamedEvent): boolean {
  if (type === "message.accepted") return true;
  return type.startsWith("delivery.") && wanted.peek()?.states !== undefined;
}
