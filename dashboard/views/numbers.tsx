/** Volume and times over a range, for one team or for all, as the daemon has counted them. */
import { computed, signal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { Output } from "../../src/client/browser.ts";
import { failureOf } from "../actions.ts";
import { inTeam } from "../api.ts";
import { Chart, Counts, Figure, type ChartTable } from "../parts/charts.tsx";
import { addressParam } from "../route.ts";
import { connection, team, teamNames } from "../state.ts";
import { span, timeOf } from "../times.ts";

type Statistics = Output<"statistics">;
type Stage = "delivered" | "seen";

const hourMs = 3_600_000;
const ranges = {
  hour: { title: "Last hour", ms: hourMs, buckets: 60, ago: "an hour ago" },
  day: { title: "Last day", ms: 24 * hourMs, buckets: 96, ago: "a day ago" },
  week: { title: "Last week", ms: 168 * hourMs, buckets: 84, ago: "a week ago" },
  all: { title: "All that is kept", ms: null, buckets: 120, ago: null },
} as const;
type Range = keyof typeof ranges;
const range = addressParam<Range>("range", Object.keys(ranges) as Range[], "hour");

const numbers = signal<Statistics | null>(null);
const failure = signal<string | null>(null);
const transports = computed(() => {
  const all = numbers.value?.buckets.flatMap(({ delivered, seen }) => [...delivered, ...seen]) ?? [];
  return [...new Set(all.map(({ transport }) => transport))].toSorted();
});

/** The answer to an earlier question is dropped. */
let asked = 0;

async function load(): Promise<void> {
  const mine = ++asked;
  const { ms, buckets } = ranges[range.value];
  const chosen = team.value;
  try {
    const answer = await inTeam(null).call("statistics", {
      buckets,
      ...(ms !== null && { since: Date.now() - ms }),
      ...(chosen !== null && { team: chosen }),
    });
    if (mine === asked) [numbers.value, failure.value] = [answer, null];
  } catch (thrown) {
    if (mine === asked) failure.value = failureOf(thrown).message;
  }
}

const refreshMs = 5_000;

export function NumbersView(): VNode {
  const isLive = connection.value === "live";
  useEffect(() => {
    if (!isLive) return;
    void load();
    const timer = setInterval(() => document.hidden || void load(), refreshMs);
    return () => clearInterval(timer);
  }, [range.value, team.value, isLive]);
  const shown = numbers.value;
  return (
    <section class="view numbers" tabIndex={0} aria-label="Numbers">
      <div class="toolbar">
        <div class="chips" role="group" aria-label="Range">
          {(Object.keys(ranges) as Range[]).map((one) => (
            <button key={one} class="chip" aria-pressed={range.value === one} onClick={() => (range.value = one)}>
              {ranges[one].title}
            </button>
          ))}
        </div>
        <span class="muted">{scopeOf(shown)}</span>
      </div>
      {failure.value !== null && <p class="failure" role="alert">{`These numbers are old: ${failure.value}`}</p>}
      {shown === null ? <p class="muted">Loading…</p> : <Everything shown={shown} />}
    </section>
  );
}

function scopeOf(shown: Statistics | null): string {
  const whose = team.value ?? (teamNames.value.length > 1 ? "all teams" : "");
  const kept = range.value === "all" && shown !== null ? `${span(shown.retentionMs)} are kept` : "";
  return [whose, kept].filter(Boolean).join(" · ");
}

function Everything({ shown }: { shown: Statistics }): VNode {
  const { delivered, seen } = shown;
  const time = (ms: number | null): string => (ms === null ? "–" : span(ms));
  return (
    <>
      <div class="figures">
        <Figure name="messages" value={shown.messages.toLocaleString()} />
        <Figure name="Time to deliver, median" value={time(delivered.median)} />
        <Figure name="Time to deliver, p95" value={time(delivered.p95)} />
        <Figure name="Time until seen, median" value={time(seen.median)} />
      </div>
      <div class="charts">
        <Messages shown={shown} />
        <Delivered shown={shown} />
        <Latency shown={shown} stage="delivered" title="Time to deliver, median" />
        <Latency shown={shown} stage="seen" title="Time until seen, median" />
        <Counts
          title="Held, by reason"
          columns={["Reason", "Times"]}
          rows={shown.held.map(({ reason, count }) => ({ name: reason, value: count }))}
          none="Nothing was held in this range."
        />
        <Counts
          title="Messages per edge"
          columns={["Edge", "Messages"]}
          rows={shown.edges.map(({ from, to, count }) => ({ name: `${endOf(from)} → ${endOf(to)}`, value: count }))}
          all={shown.allEdges}
          none="No messages in this range."
        />
        <Counts
          title="Deliveries, by state and transport"
          columns={["State", "Deliveries"]}
          rows={shown.states.map(({ state, transport, count }) => ({
            name: transport === null ? state : `${state} by ${transport}`,
            value: count,
          }))}
          none="No deliveries in this range."
        />
      </div>
    </>
  );
}

type End = Statistics["edges"][number]["from"];
const endOf = ({ name, team: of, removed }: End): string =>
  `${of !== null && teamNames.value.length > 1 ? `${of}:` : ""}${name}${removed ? " (removed)" : ""}`;

const transportName = (transport: string): string => (transport === "" ? "unknown" : transport);
const perBucket = ({ step }: Statistics): string =>
  `per ${step === 60_000 ? "minute" : step === hourMs ? "hour" : span(step)}`;

function endsOf({ since }: Statistics): readonly [string, string] {
  return [ranges[range.value].ago ?? timeOf(since), "now"];
}

function Messages({ shown }: { shown: Statistics }): VNode {
  const width = 600 / shown.buckets.length;
  const most = Math.max(5, ...shown.buckets.map(({ messages }) => messages));
  const table: ChartTable = {
    columns: ["Time", "Messages"],
    rows: shown.buckets.filter(({ messages }) => messages > 0).map(({ at, messages }) => [timeOf(at), messages]),
  };
  return (
    <Chart
      title={`Messages ${perBucket(shown)}`}
      marks={[[most.toLocaleString(), 100]]}
      ends={endsOf(shown)}
      table={table}
    >
      {shown.buckets.map(({ at, messages }, index) =>
        messages === 0 ? null : (
          <rect
            key={at}
            class="s0"
            x={index * width + width * 0.1}
            y={100 - (100 * messages) / most}
            width={width * 0.8}
            height={(100 * messages) / most}
          >
            <title>{`${messages} at ${timeOf(at)}`}</title>
          </rect>
        ),
      )}
    </Chart>
  );
}

/** What each transport carried, one upon the other. */
function Delivered({ shown }: { shown: Statistics }): VNode {
  const width = 600 / shown.buckets.length;
  const totals = shown.buckets.map(({ delivered }) => delivered.reduce((sum, one) => sum + one.durations.count, 0));
  const most = Math.max(5, ...totals);
  const countOf = (bucket: Statistics["buckets"][number], transport: string): number =>
    bucket.delivered.find((one) => one.transport === transport)?.durations.count ?? 0;
  const names = transports.value;
  return (
    <Chart
      title={`Delivered ${perBucket(shown)}`}
      marks={[[most.toLocaleString(), 100]]}
      legend={names.map(transportName)}
      ends={endsOf(shown)}
      table={{
        columns: ["Time", ...names.map(transportName)],
        rows: shown.buckets.flatMap((bucket, index) =>
          totals[index] === 0 ? [] : [[timeOf(bucket.at), ...names.map((one) => countOf(bucket, one))]],
        ),
      }}
    >
      {shown.buckets.map((bucket, index) => {
        let top = 100;
        if (totals[index] === 0) return null;
        return (
          <g key={bucket.at}>
            {names.map((transport, series) => {
              const height = (100 * countOf(bucket, transport)) / most;
              top -= height;
              return height === 0 ? null : (
                <rect
                  key={transport}
                  class={`s${series % 6}`}
                  x={index * width + width * 0.1}
                  y={top}
                  width={width * 0.8}
                  height={height}
                />
              );
            })}
            <title>{`${totals[index]} at ${timeOf(bucket.at)}`}</title>
          </g>
        );
      })}
    </Chart>
  );
}

/** A line over a longer silence would claim something. */
const longestGap = 5;

/** One line per transport: the median of each bucket, on a scale on which milliseconds and minutes both fit. */
function Latency({ shown, stage, title }: { shown: Statistics; stage: Stage; title: string }): VNode {
  const height = (ms: number): number => Math.min(100, (100 * Math.log10(Math.max(1, ms))) / 5.5);
  const width = 600 / shown.buckets.length;
  const names = transports.value;
  const medianOf = (bucket: Statistics["buckets"][number], transport: string): number | null =>
    bucket[stage].find((one) => one.transport === transport)?.durations.median ?? null;
  const rows = shown.buckets.filter((bucket) => bucket[stage].length > 0);
  return (
    <Chart
      title={`${title} ${perBucket(shown)}`}
      marks={[10, 1_000, 60_000].map((ms) => [span(ms), height(ms)] as const)}
      legend={names.map(transportName)}
      ends={endsOf(shown)}
      table={{
        columns: ["Time", ...names.map(transportName)],
        rows: rows.map((bucket) => [
          timeOf(bucket.at),
          ...names.map((one) => {
            const ms = medianOf(bucket, one);
            return ms === null ? "–" : span(ms);
          }),
        ]),
      }}
    >
      {names.map((transport, series) => {
        const points = shown.buckets.flatMap((bucket, index) => {
          const ms = medianOf(bucket, transport);
          return ms === null ? [] : [{ index, x: index * width + width / 2, y: 100 - height(ms), ms }];
        });
        const line = points.map(({ index, x, y }, at) => {
          const gap = index - (points[at - 1]?.index ?? -Infinity);
          return `${gap > longestGap ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`;
        });
        return (
          <g key={transport} class={`series s${series % 6}`}>
            <path d={line.join("")} />
            {points.map(({ index, x, y, ms }) => (
              <path key={index} class="point" d={`M${x.toFixed(1)} ${y.toFixed(1)}h0`}>
                <title>{`${transportName(transport)}: ${span(ms)}`}</title>
              </path>
            ))}
          </g>
        );
      })}
    </Chart>
  );
}
