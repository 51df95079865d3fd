/** The events that the event log shows: pages of the daemon's log, and what happens meanwhile. Oldest first. */
import { batch, computed, signal } from "@preact/signals";
import { isWanted, type EventFilter } from "../../src/model/event.ts";
import type { StreamedEvent } from "../../src/client/browser.ts";
import { failureOf } from "../actions.ts";
import { inTeam } from "../api.ts";
import { team } from "../state.ts";

const pageSize = 200;
/** So many rows are kept; older ones are read again on scrolling. */
const mostRows = 20_000;

export const kinds = {
  "": "All events",
  message: "Messages",
  delivery: "Deliveries",
  route: "Routing",
  agent: "Agents",
  tool: "Tool calls",
  user: "Prompts",
} as const;
export const ranges = {
  "": "Any time",
  "900000": "Last 15 minutes",
  "3600000": "Last hour",
  "86400000": "Last day",
} as const;

export const kind = signal<keyof typeof kinds>("");
export const agent = signal("");
export const range = signal<keyof typeof ranges>("");
export const rows = signal<readonly StreamedEvent[]>([]);
export const isPaused = signal(false);
/** What has come while the log was paused. */
export const held = signal<readonly StreamedEvent[]>([]);
export const hasOlder = signal(false);
/** Everything down to this number was searched. */
const searchedTo = signal<number | null>(null);
export const failure = signal<string | null>(null);
export const isLoading = signal(false);

const filter = computed<EventFilter>(() => ({
  ...(kind.value !== "" && { types: [kind.value] }),
  ...(agent.value.trim() !== "" && { agent: agent.value.trim() }),
  ...(team.value !== null && { team: team.value }),
}));
export const isFiltered = computed(() => Object.keys(filter.value).length > 0 || range.value !== "");
/** Changes when the list has to be read again. */
export const question = computed(() => JSON.stringify([filter.value, range.value]));

let asked = 0;
/** The highest number that was seen, and the one at which the log was paused. */
let newest = 0;
let pausedAt = 0;

/** Reads the newest page for the filters as they are now. */
export async function reload(): Promise<void> {
  asked++;
  batch(() => {
    rows.value = held.value = [];
    searchedTo.value = null;
    hasOlder.value = isLoading.value = false;
  });
  await loadOlder();
}

/** One page further back. Answers of earlier questions are dropped. */
export async function loadOlder(): Promise<void> {
  if (isLoading.peek() || (searchedTo.peek() !== null && !hasOlder.peek())) return;
  const mine = asked;
  isLoading.value = true;
  failure.value = null;
  try {
    const before = searchedTo.peek() ?? Number.MAX_SAFE_INTEGER;
    const { types, ...where } = filter.peek();
    const since = range.peek() === "" ? {} : { since: Date.now() - Number(range.peek()) };
    const page = await inTeam(null).call("events", {
      ...where,
      ...since,
      ...(types && { types: [...types] }),
      before,
      limit: pageSize,
    });
    if (mine !== asked) return;
    batch(() => {
      const isNew = ({ seq }: StreamedEvent): boolean => isPaused.peek() && seq > pausedAt;
      rows.value = merged(
        rows.peek(),
        page.events.filter((event) => !isNew(event)),
      );
      held.value = merged(held.peek(), page.events.filter(isNew));
      newest = Math.max(newest, page.events.at(-1)?.seq ?? 0);
      searchedTo.value = page.first ?? 0;
      hasOlder.value = page.more;
    });
  } catch (thrown) {
    if (mine === asked) failure.value = failureOf(thrown).message;
  } finally {
    if (mine === asked) isLoading.value = false;
  }
}

/** Something happened just now. */
export function add(event: StreamedEvent): void {
  newest = Math.max(newest, event.seq);
  if (!isWanted(event, filter.peek())) return;
  if (isPaused.peek()) held.value = merged(held.peek(), [event]).slice(-mostRows);
  else rows.value = bounded(merged(rows.peek(), [event]));
}

export function setPaused(paused: boolean): void {
  batch(() => {
    isPaused.value = paused;
    pausedAt = newest;
    if (paused) return;
    rows.value = bounded(merged(rows.peek(), held.peek()));
    held.value = [];
  });
}

/** Each event once, in order: a page and the stream may both have it. */
function merged(known: readonly StreamedEvent[], fresh: readonly StreamedEvent[]): readonly StreamedEvent[] {
  const last = known.at(-1)?.seq ?? -1;
  if (fresh.every(({ seq }, at) => seq > (fresh[at - 1]?.seq ?? last))) return [...known, ...fresh];
  const all = new Map([...known, ...fresh].map((event) => [event.seq, event]));
  return [...all.values()].toSorted((a, b) => a.seq - b.seq);
}

function bounded(events: readonly StreamedEvent[]): readonly StreamedEvent[] {
  if (events.length <= mostRows) return events;
  const kept = events.slice(-mostRows);
  searchedTo.value = kept[0]!.seq;
  hasOlder.value = true;
  return kept;
}
