/** Numbers about what happened since the daemon started, in the text format of Prometheus. */
import type { Event } from "../model/event.ts";

type Labels = Readonly<Record<string, string>>;

/** The current values, computed when the metrics are read. */
export interface Gauges {
  readonly queues: readonly { readonly team: string; readonly agent: string; readonly depth: number }[];
  readonly held: readonly { readonly reason: string; readonly agents: number }[];
  readonly eventsLost: number;
  readonly natsPublished: number;
  readonly natsDropped: number;
}

const secondsBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800];

export class Metrics {
  readonly #accepted = new Counter("tieline_messages_accepted_total", "Messages that were accepted.");
  readonly #denied = new Counter(
    "tieline_routes_denied_total",
    "Messages that were refused because the topology has no edge.",
  );
  readonly #edges = new Counter("tieline_edge_messages_total", "Messages from one agent to another.");
  readonly #deliveries = new Counter(
    "tieline_deliveries_total",
    "Deliveries that came into a state, by the transport that brought them there.",
  );
  readonly #holds = new Counter("tieline_holds_total", "How often a delivery was held back, by reason.");
  readonly #events = new Counter("tieline_events_total", "Events, by the first word of their type.");
  readonly #seconds = new Histogram(
    "tieline_delivery_seconds",
    "Time from acceptance until a delivery was delivered, and until it was seen.",
    secondsBounds,
  );

  observe(event: Event): void {
    this.#events.add({ kind: event.type.slice(0, event.type.indexOf(".")) });
    switch (event.type) {
      case "message.accepted":
        this.#accepted.add({ team: event.team });
        for (const to of event.recipients) this.#edges.add({ team: event.team, from: event.from, to });
        break;
      case "route.denied":
        this.#denied.add({ team: event.team });
        break;
      case "delivery.queued":
        if (event.reason !== null) this.#holds.add({ reason: event.reason });
        break;
      case "delivery.delivered":
      case "delivery.seen":
        if (event.from !== event.to)
          this.#time((event.at - event.acceptedAt) / 1000, event.to, event.from === "delivered");
        break;
    }
    if ("delivery" in event && event.from !== event.to)
      this.#deliveries.add({ state: event.to, transport: event.transport ?? "" });
  }

  text({ queues, held, eventsLost, natsPublished, natsDropped }: Gauges): string {
    const depth = new Counter("tieline_queue_depth", "Deliveries that still owe something to an agent.", "gauge");
    for (const { team, agent, depth: count } of queues) depth.add({ team, agent }, count);
    const heldNow = new Counter("tieline_agents_held", "Agents whose next message waits, by reason.", "gauge");
    for (const { reason, agents } of held) heldNow.add({ reason }, agents);
    const dropped = new Counter(
      "tieline_events_dropped_total",
      "Events that were lost on their way to the disk or to NATS.",
    );
    dropped.add({ sink: "disk" }, eventsLost);
    dropped.add({ sink: "nats" }, natsDropped);
    const published = new Counter("tieline_nats_published_total", "Events that a NATS server took.");
    published.add({}, natsPublished);
    const all = [
      this.#accepted,
      this.#denied,
      this.#edges,
      this.#deliveries,
      this.#seconds,
      this.#holds,
      heldNow,
      depth,
      this.#events,
      dropped,
      published,
    ];
    return `${all.flatMap((one) => one.lines()).join("\n")}\n`;
  }

  /** What is seen without having been delivered before came over in the same moment. */
  #time(seconds: number, stage: string, wasDelivered: boolean): void {
    this.#seconds.add({ stage }, seconds);
    if (stage === "seen" && !wasDelivered) this.#seconds.add({ stage: "delivered" }, seconds);
  }
}

class Counter {
  readonly #values = new Map<string, number>();

  constructor(
    private readonly name: string,
    private readonly help: string,
    private readonly type: "counter" | "gauge" = "counter",
  ) {}

  add(labels: Labels, count = 1): void {
    const key = labelText(labels);
    this.#values.set(key, (this.#values.get(key) ?? 0) + count);
  }

  lines(): string[] {
    return [
      ...header(this.name, this.help, this.type),
      ...[...this.#values].map(([labels, value]) => `${this.name}${labels} ${value}`),
    ];
  }
}

class Histogram {
  readonly #series = new Map<string, { labels: Labels; counts: number[]; sum: number; count: number }>();

  constructor(
    private readonly name: string,
    private readonly help: string,
    private readonly bounds: readonly number[],
  ) {}

  add(labels: Labels, value: number): void {
    const key = labelText(labels);
    let series = this.#series.get(key);
    if (series === undefined)
      this.#series.set(key, (series = { labels, counts: this.bounds.map(() => 0), sum: 0, count: 0 }));
    series.sum += value;
    series.count++;
    this.bounds.forEach((bound, index) => {
      if (value <= bound) series.counts[index]!++;
    });
  }

  lines(): string[] {
    const { name } = this;
    const series = [...this.#series.values()].flatMap(({ labels, counts, sum, count }) => [
      ...this.bounds.map(
        (bound, index) => `${name}_bucket${labelText({ ...labels, le: String(bound) })} ${counts[index]}`,
      ),
      `${name}_bucket${labelText({ ...labels, le: "+Inf" })} ${count}`,
      `${name}_sum${labelText(labels)} ${sum}`,
      `${name}_count${labelText(labels)} ${count}`,
    ]);
    return [...header(name, this.help, "histogram"), ...series];
  }
}

const header = (name: string, help: string, type: string): string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
];

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

const escaped = (value: string): string =>
  value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
