import { computed, signal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import { failureOf } from "../actions.ts";
import { metricsText } from "../api.ts";
import { acceptedAt, now, samples, type Sample } from "../state.ts";
import { span, timeOf } from "../times.ts";

const minutes = 60;
const metrics = signal("");
const failure = signal<string | null>(null);

const transports = computed(() => [...new Set(samples.value.map(({ transport }) => transport))].toSorted());

export function NumbersView(): VNode {
  useEffect(() => {
    const load = (): void =>
      void metricsText().then(
        (text) => void ([metrics.value, failure.value] = [text, null]),
        (thrown: unknown) => void (failure.value = failureOf(thrown).message),
      );
    load();
    const timer = setInterval(load, 5_000);
    return () => clearInterval(timer);
  }, []);
  const delivered = samples.value.filter(({ stage }) => stage === "delivered");
  const seen = samples.value.filter(({ stage }) => stage === "seen");
  return (
    <section class="view numbers" tabIndex={0} aria-label="Numbers">
      <div class="figures">
        <Figure
          name="messages in the last hour"
          value={acceptedAt.value.filter((at) => at > now.value - minutes * 60_000).length.toLocaleString()}
        />
        <Figure name="accept → delivered, median" value={middle(delivered, 0.5)} />
        <Figure name="accept → delivered, 95 %" value={middle(delivered, 0.95)} />
        <Figure name="accept → seen, median" value={middle(seen, 0.5)} />
      </div>
      {failure.value !== null && <p class="failure">{`The counts below are old: ${failure.value}`}</p>}
      <div class="charts">
        <Throughput />
        <Latency stage="delivered" those={delivered} />
        <Latency stage="seen" those={seen} />
        <Counts
          title="Held, by reason"
          rows={rowsOf("tieline_holds_total", ({ reason }) => reason ?? "")}
          none="Nothing was held since the daemon started."
        />
        <Counts
          title="Messages per edge"
          rows={rowsOf("tieline_edge_messages_total", ({ from, to }) => `${from} → ${to}`)}
          none="No messages since the daemon started."
        />
        <Counts
          title="Deliveries, by state and transport"
          rows={rowsOf(
            "tieline_deliveries_total",
            ({ state, transport }) => `${state}${transport ? ` by ${transport}` : ""}`,
          )}
          none="No deliveries since the daemon started."
        />
      </div>
    </section>
  );
}

const Figure = ({ name, value }: { name: string; value: string }): VNode => (
  <div class="figure">
    <strong>{value}</strong>
    <span>{name}</span>
  </div>
);

function quantile(those: readonly number[], at: number): number | null {
  const sorted = those.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? null;
}

function middle(those: readonly Sample[], at: number): string {
  const ms = quantile(
    those.map((one) => one.ms),
    at,
  );
  return ms === null ? "–" : span(ms);
}

/** The last hour in minutes: from the oldest to the one that runs. */
function perMinute<One>(those: readonly One[], atOf: (one: One) => number): One[][] {
  const first = Math.floor(now.value / 60_000) - minutes + 1;
  const buckets: One[][] = Array.from({ length: minutes }, () => []);
  for (const one of those) buckets[Math.floor(atOf(one) / 60_000) - first]?.push(one);
  return buckets;
}

/** What each transport carried, one upon the other. */
function Throughput(): VNode {
  const minutesOf = perMinute(
    samples.value.filter(({ isArrival }) => isArrival),
    ({ at }) => at,
  );
  const most = Math.max(5, ...minutesOf.map((those) => those.length));
  const bars = minutesOf.map((those, at) => {
    let top = 100;
    return (
      <g key={at}>
        {transports.value.map((transport, index) => {
          const count = those.filter((one) => one.transport === transport).length;
          const height = (100 * count) / most;
          top -= height;
          return count === 0 ? null : (
            <rect key={transport} class={`s${index % 6}`} x={at * 10 + 1} y={top} width="8" height={height} />
          );
        })}
        <title>{`${those.length} at ${timeOf((Math.floor(now.value / 60_000) - minutes + 1 + at) * 60_000)}`}</title>
      </g>
    );
  });
  return (
    <Chart title="Delivered per minute" marks={[[String(most), 100]]} legend={transports.value}>
      {bars}
    </Chart>
  );
}

/** Ten to a minute: a line over a longer silence would claim something. */
const longestGap = 50;

/** One line per transport: the median of each minute, on a scale on which milliseconds and minutes both fit. */
function Latency({ stage, those }: { stage: string; those: readonly Sample[] }): VNode {
  const height = (ms: number): number => (100 * Math.log10(Math.max(1, ms))) / 5.5;
  return (
    <Chart
      title={`Accept → ${stage}, median per minute`}
      marks={[10, 1_000, 60_000].map((ms) => [span(ms), height(ms)] as const)}
      legend={transports.value}
    >
      {transports.value.map((transport, index) => {
        const medians = perMinute(
          those.filter((one) => one.transport === transport),
          ({ at }) => at,
        ).map((bucket) =>
          quantile(
            bucket.map(({ ms }) => ms),
            0.5,
          ),
        );
        const points = medians.flatMap((ms, at) => (ms === null ? [] : [[at * 10 + 5, 100 - height(ms), ms] as const]));
        return (
          <g key={transport} class={`series s${index % 6}`}>
            <path
              d={points
                .map(
                  ([x, y], at) =>
                    `${x - (points[at - 1]?.[0] ?? -Infinity) > longestGap ? "M" : "L"}${x} ${y.toFixed(1)}`,
                )
                .join("")}
            />
            {points.map(([x, y, ms]) => (
              <path key={x} class="point" d={`M${x} ${y.toFixed(1)}h0`}>
                <title>{`${transport}: ${span(ms)}`}</title>
              </path>
            ))}
          </g>
        );
      })}
    </Chart>
  );
}

interface ChartProps {
  readonly title: string;
  /** Words beside the chart, and how high they stand, of 100. */
  readonly marks: readonly (readonly [word: string, height: number])[];
  readonly legend?: readonly string[];
  readonly children: VNode[];
}

/** The drawing is stretched to its room; the words lie around it, so that they keep their size on every screen. */
function Chart({ title, marks, legend = [], children }: ChartProps): VNode {
  return (
    <figure class="chart">
      <figcaption>
        {title}
        <span class="legend">
          {legend.map((transport, index) => (
            <span key={transport} class={`series s${index % 6}`}>
              {transport}
            </span>
          ))}
        </span>
      </figcaption>
      <div class="plot">
        {marks.map(([word, height]) => (
          <span key={word} class="mark" style={{ bottom: `${height}%` }}>
            <span>{word}</span>
          </span>
        ))}
        <svg viewBox="0 0 600 100" preserveAspectRatio="none" role="img" aria-label={title}>
          {children}
        </svg>
      </div>
      <p class="ends">
        <span>an hour ago</span>
        <span>now</span>
      </p>
    </figure>
  );
}

interface Row {
  readonly name: string;
  readonly value: number;
}

function Counts({ title, rows, none }: { title: string; rows: readonly Row[]; none: string }): VNode {
  const most = Math.max(1, ...rows.map(({ value }) => value));
  return (
    <figure class="chart counts">
      <figcaption>{title}</figcaption>
      {rows.length === 0 ? <p class="muted">{none}</p> : null}
      <table>
        <tbody>
          {rows.slice(0, 12).map(({ name, value }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <span class="bar" style={{ width: `${(100 * value) / most}%` }} />
              </td>
              <td class="number">{value.toLocaleString()}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

/** The series of one metric in the text that Prometheus reads, largest first. */
function rowsOf(metric: string, name: (labels: Record<string, string>) => string): Row[] {
  const sums = new Map<string, number>();
  for (const [, labels = "", value] of metrics.value.matchAll(new RegExp(`^${metric}(?:\\{(.*)\\})? (\\S+)$`, "gm"))) {
    const pairs = Object.fromEntries(
      [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key, text]),
    );
    const key = name(pairs);
    sums.set(key, (sums.get(key) ?? 0) + Number(value));
  }
  return [...sums].map(([key, value]) => ({ name: key, value })).toSorted((a, b) => b.value - a.value);
}
