import { z } from "zod";
import type { Directory } from "../../agents/directory/directory.ts";
import type { Mailbox } from "../../mailbox/port.ts";
import {
  dayMs,
  durationOf,
  hourMs,
  minuteMs,
  minutesKeptMs,
  partsOf,
  type BucketSize,
  type Measure,
  type TallySum,
} from "../../mailbox/statistics.ts";
import { switchId, switchName, userId, userName } from "../../model/agent.ts";
import { agentId, type AgentId, type Clock } from "../../model/ids.ts";
import type { Callers } from "../callers.ts";
import { operation } from "../operation.ts";
import { count } from "../schemas/fields.ts";
import { EdgesView, StatisticsView, type Duration, type EdgeEnd } from "../schemas/statistics.ts";
import { teamFilterOf, type TeamFilterParts } from "../teamFilter.ts";

export interface StatisticsParts extends TeamFilterParts {
  readonly callers: Callers;
  readonly mailbox: Mailbox;
  readonly directory: Directory;
  readonly clock: Clock;
  /** How long messages are kept. */
  readonly retentionMs: number;
}

const mostBuckets = 400;
const mostEdges = 2_000;

export const statisticsOperations = [
  /** The user only. Counted when it happened, so it includes messages that were removed since. */
  operation({
    name: "statistics",
    summary: "Count messages, times to deliver, holds and edges in a range of time, in buckets.",
    access: "user",
    input: z.object({
      team: z.string().optional().describe("only messages that are filed under this team"),
      since: count.optional().describe("default: as long as messages are kept"),
      until: count.optional().describe("default: now"),
      buckets: count.min(1).max(mostBuckets).optional().describe("about how many; default 60"),
    }),
    output: StatisticsView,
    async run(parts: StatisticsParts, { team, since, until, buckets = 60 }, { caller }) {
      await parts.callers.user(caller);
      if (team !== undefined) teamFilterOf(parts)(team);
      return statistics(parts, rangeOf(parts, { since, until, buckets }), team);
    },
  }),

  /** The user only. */
  operation({
    name: "edges",
    summary: "Count the messages from each agent to each other, as long as messages are kept.",
    access: "user",
    input: z.object({}),
    output: EdgesView,
    async run(parts: StatisticsParts, _, { caller }) {
      await parts.callers.user(caller);
      return edges(parts, rangeOf(parts, { since: undefined, until: undefined, buckets: 1 }), undefined);
    },
  }),
] as const;

interface Range {
  readonly since: number;
  readonly until: number;
  readonly step: number;
  readonly size: BucketSize;
}

/** Aligned to its steps, so that buckets do not move with every call. */
function rangeOf(
  { clock, retentionMs }: StatisticsParts,
  wanted: { since: number | undefined; until: number | undefined; buckets: number },
): Range {
  const now = clock();
  const end = Math.min(wanted.until ?? now + 1, now + 1);
  const begin = Math.min(end - 1, Math.max(wanted.since ?? 0, now - retentionMs));
  const size = begin < now - minutesKeptMs || end - begin > wanted.buckets * hourMs ? hourMs : minuteMs;
  const step = Math.max(1, Math.round((end - begin) / wanted.buckets / size)) * size;
  const since = Math.floor(begin / step) * step;
  return { since, until: end, step, size };
}

function statistics(parts: StatisticsParts, range: Range, team: string | undefined): z.input<typeof StatisticsView> {
  const { mailbox, retentionMs } = parts;
  const { since, until, step, size } = range;
  const read = (measure: Measure, more: { size?: BucketSize; step: number | null }): readonly TallySum[] =>
    mailbox.tallies({ measure, size, since, until, ...more, ...(team !== undefined && { team }) });
  const accepted = read("accepted", { step });
  const delivered = read("delivered", { step });
  const seen = read("seen", { step });
  const [acceptedIn, deliveredIn, seenIn] = [accepted, delivered, seen].map(perBucket) as [
    PerBucket,
    PerBucket,
    PerBucket,
  ];
  return {
    ...{ since, until, step, retentionMs },
    messages: sum(accepted),
    delivered: durationsOf(delivered),
    seen: durationsOf(seen),
    buckets: Array.from({ length: Math.ceil((until - since) / step) }, (_, bucket) => ({
      at: since + bucket * step,
      messages: sum(acceptedIn(bucket)),
      delivered: byTransport(deliveredIn(bucket)),
      seen: byTransport(seenIn(bucket)),
    })),
    held: largest(read("held", { step: null })).map(({ label, count: times }) => ({ reason: label, count: times })),
    states: largest(read("state", { step: null })).map(({ label, count: times }) => {
      const [state, transport] = partsOf(label);
      return { state: state!, transport: transport || null, count: times };
    }),
    ...edges(parts, range, team),
  };
}

function edges(
  { mailbox, directory }: StatisticsParts,
  { since, until, size }: Range,
  team: string | undefined,
): z.input<typeof EdgesView> {
  const isLong = size === hourMs && (until - since) / dayMs > 14;
  const rows = mailbox.tallies({
    ...{ measure: "edge", size: isLong ? dayMs : size, until, step: null },
    since: isLong ? Math.floor(since / dayMs) * dayMs : since,
    ...(team !== undefined && { team }),
  });
  const nameOf = namesIn(mailbox, directory);
  return {
    edges: largest(rows)
      .slice(0, mostEdges)
      .map(({ label, count: times }) => {
        const [from, to] = partsOf(label).map((id) => nameOf(agentId(id)));
        return { from: from!, to: to!, count: times };
      }),
    allEdges: rows.length,
  };
}

/** Who an id is now, or was. */
function namesIn(mailbox: Mailbox, directory: Directory): (id: AgentId) => z.input<typeof EdgeEnd> {
  const known = new Map<AgentId, z.input<typeof EdgeEnd>>();
  const find = (id: AgentId): z.input<typeof EdgeEnd> => {
    const agent = directory.agent(id);
    if (agent !== null) return { id, name: agent.name, team: agent.team || null, removed: false };
    if (id === userId) return { id, name: userName, team: null, removed: false };
    if (id === switchId) return { id, name: switchName, team: null, removed: false };
    const former = mailbox.nameOf(id);
    return { id, name: former?.name ?? id, team: former?.team ?? null, removed: true };
  };
  return (id) => {
    const found = known.get(id) ?? find(id);
    known.set(id, found);
    return found;
  };
}

type PerBucket = (bucket: number) => readonly TallySum[];

function perBucket(rows: readonly TallySum[]): PerBucket {
  const groups = Map.groupBy(rows, ({ bucket }) => bucket);
  return (bucket) => groups.get(bucket) ?? [];
}

const sum = (rows: readonly TallySum[]): number => rows.reduce((total, row) => total + row.count, 0);
const largest = (rows: readonly TallySum[]): TallySum[] => rows.toSorted((a, b) => b.count - a.count);

const byTransport = (rows: readonly TallySum[]): { transport: string; durations: z.input<typeof Duration> }[] =>
  [...Map.groupBy(rows, ({ label }) => label)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([transport, those]) => ({ transport, durations: durationsOf(those) }));

function durationsOf(rows: readonly TallySum[]): z.input<typeof Duration> {
  const sorted = rows.toSorted((a, b) => a.bound - b.bound);
  const total = sum(rows);
  const quantile = (share: number): number | null => {
    let left = Math.ceil(total * share);
    const found = sorted.find((row) => (left -= row.count) <= 0);
    return found === undefined ? null : Math.round(durationOf(found.bound));
  };
  return { count: total, median: quantile(0.5), p95: quantile(0.95) };
}
