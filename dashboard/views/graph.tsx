import { computed, signal, useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { AddEdge, RemovedEdges, removeEdge } from "../graph/edit.tsx";
import { layout, place, type Body } from "../graph/force.ts";
import { refuse, travel, type Point } from "../graph/sparks.ts";
import { onEvent } from "../live.ts";
import { Act } from "../parts/act.tsx";
import { Icon } from "../parts/icons.tsx";
import { linkTo } from "../route.ts";
import { actingTeam, agents, denials, teamNames, timeline, topologies, type Topology } from "../state.ts";
import { visible } from "../text.ts";
import { timeOf } from "../times.ts";

interface Line {
  readonly from: string;
  readonly to: string;
  readonly count: number;
  /** Null: not in the topology, only observed. */
  readonly origin: "config" | "run time" | null;
}

/** One team at a time: the one that is looked at, else the largest. */
const shownTeam = computed(
  () => actingTeam.value ?? teamNames.value.toSorted((a, b) => sizeOf(b) - sizeOf(a))[0] ?? null,
);
const sizeOf = (team: string): number => agents.value.filter(({ view: { value } }) => value.team === team).length;
const chosen = signal<Line | null>(null);
const keyOf = ({ from, to }: Pick<Line, "from" | "to">): string => `${from} -> ${to}`;

const topology = computed<Topology | null>(() =>
  shownTeam.value === null ? null : (topologies.value.get(shownTeam.value) ?? null),
);

/** The edges that were written, and those that mail took anyway: replies, and everything where all is allowed. */
const lines = computed<readonly Line[]>(() => {
  const counts = new Map<string, Line>();
  for (const { from, to, origin } of topology.value?.edges ?? [])
    counts.set(keyOf({ from, to }), { from, to, origin, count: 0 });
  for (const cell of timeline.value.slice(-2_000)) {
    const { from, team, deliveries } = cell.receipt.peek();
    if (team !== shownTeam.value || from === "tieline") continue;
    for (const { agent } of deliveries) {
      const line = { from, to: agent };
      const known = counts.get(keyOf(line));
      counts.set(keyOf(line), known ? { ...known, count: known.count + 1 } : { ...line, origin: null, count: 1 });
    }
  }
  return [...counts.values()];
});

const names = computed(() =>
  [
    ...new Set([
      ...agents.value.flatMap(({ view: { value } }) => (value.team === shownTeam.value ? [value.name] : [])),
      ...lines.value.flatMap(({ from, to }) => [from, to]),
      "user",
    ]),
  ].filter((name) => name !== "*"),
);

export function GraphView(): VNode {
  return (
    <section class="view graph">
      <div class="toolbar">
        <AddEdge team={shownTeam.value} names={names.value} />
        <span class="muted">
          {teamNames.value.length > 1 && `${shownTeam.value}: `}
          {topology.value?.edges === null
            ? "no topology, everyone may write to everyone"
            : `${topology.value?.edges?.length ?? 0} edges`}
        </span>
        <RemovedEdges team={shownTeam.value} />
      </div>
      <div class="stage">
        <Drawing />
        {chosen.value && <Traffic line={chosen.value} />}
      </div>
      <Refused />
    </section>
  );
}

function Drawing(): VNode {
  const bodies = useRef(new Map<string, Body>());
  const layer = useRef<SVGGElement>(null);
  const svg = useRef<SVGSVGElement>(null);
  const tick = useSignal(0);
  const box = useSignal({ width: 800, height: 600 });

  bodies.current = place(names.value, bodies.current);
  const shape = `${Math.round(box.value.width / 200)}|${names.value.join(" ")}|${lines.value.map(keyOf).join(" ")}`;

  useEffect(() => {
    const observer = new ResizeObserver(
      ([entry]) => (box.value = { width: entry!.contentRect.width, height: entry!.contentRect.height }),
    );
    observer.observe(svg.current!);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    const aspect = Math.min(2.2, Math.max(0.6, box.peek().width / Math.max(1, box.peek().height)));
    const simulation = layout(bodies.current, lines.peek(), aspect);
    let frame = 0;
    const run = (): void => {
      // Several steps a frame: it comes to rest within a second or two.
      simulation.tick(4);
      tick.value++;
      if (simulation.alpha() > simulation.alphaMin()) frame = requestAnimationFrame(run);
    };
    frame = requestAnimationFrame(run);
    return () => cancelAnimationFrame(frame);
  }, [shape]);

  const stretch = useRef({ x: 1, y: 1 });
  const pointOf = (name: string): Point | null => {
    const body = bodies.current.get(name);
    return body ? { x: body.x * stretch.current.x, y: body.y * stretch.current.y } : null;
  };

  useEffect(
    () =>
      onEvent((event) => {
        if (event.team !== shownTeam.peek() || !layer.current) return;
        if (event.type === "message.accepted") {
          const from = pointOf(event.from);
          for (const to of event.recipients.slice(0, 50).map(pointOf)) if (from && to) travel(layer.current, from, to);
        } else if (event.type === "route.denied") {
          const [from, to] = [pointOf(event.from), pointOf(event.to)];
          if (from && to) refuse(layer.current, from, to, `${event.from} may not write to ${event.to}`);
        }
      }),
    [],
  );

  // The drawing keeps itself in the box, whatever its size: a small team is drawn apart, a large one small.
  void tick.value;
  const all = [...bodies.current.values()];
  const reach = (values: readonly number[], least: number): readonly [number, number] => [
    Math.min(-least, ...values),
    Math.max(least, ...values),
  ];
  const [x0, x1] = reach(
    all.map((body) => body.x),
    90,
  );
  const [y0, y1] = reach(
    all.map((body) => body.y),
    60,
  );
  const { width: boxWidth, height: boxHeight } = box.value;
  const fitting = Math.min(boxWidth / (x1 - x0 + 2 * margin), boxHeight / (y1 - y0 + 2 * margin), largest);
  const room = { x: boxWidth / fitting - 2 * margin, y: boxHeight / fitting - 2 * margin };
  stretch.current = {
    x: Math.min(1.8, Math.max(1, room.x / (x1 - x0))),
    y: Math.min(1.8, Math.max(1, room.y / (y1 - y0))),
  };
  const [left, right, top, bottom] = [
    x0 * stretch.current.x - margin,
    x1 * stretch.current.x + margin,
    y0 * stretch.current.y - margin,
    y1 * stretch.current.y + margin,
  ];
  const scale = Math.min(boxWidth / (right - left), boxHeight / (bottom - top), largest);
  const [width, height] = [boxWidth / scale, boxHeight / scale];
  const [x, y] = [(left + right - width) / 2, (top + bottom - height) / 2];
  return (
    <svg
      ref={svg}
      class="drawing"
      viewBox={`${x} ${y} ${width} ${height}`}
      role="group"
      aria-label={`The topology of ${shownTeam.value ?? "the team"}`}
    >
      <defs>
        <marker
          id="tip"
          viewBox="0 0 8 8"
          refX="7"
          refY="4"
          markerWidth="7"
          markerHeight="7"
          orient="auto-start-reverse"
        >
          <path d="M0 0L8 4L0 8Z" />
        </marker>
      </defs>
      {lines.value.map((line) => (
        <Edge key={keyOf(line)} line={line} from={pointOf(line.from)} to={pointOf(line.to)} />
      ))}
      <g ref={layer} class="sparks" />
      {all.map(({ name }) => (
        <Node key={name} name={name} {...pointOf(name)!} />
      ))}
    </svg>
  );
}

const radius = 22;
/** Around the outermost nodes, for their circles and names. */
const margin = 60;
/** How many pixels a unit of the drawing is at most. */
const largest = 1.3;

function Edge({ line, from, to }: { line: Line; from: Point | null; to: Point | null }): VNode | null {
  if (!from || !to) return null;
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const distance = Math.max(1, Math.hypot(dx, dy));
  const [ux, uy] = [dx / distance, dy / distance];
  // Bent to its right, so that the way back does not lie under it.
  const bend = 14;
  const start = { x: from.x + ux * radius - uy * 4, y: from.y + uy * radius + ux * 4 };
  const end = { x: to.x - ux * (radius + 3) - uy * 4, y: to.y - uy * (radius + 3) + ux * 4 };
  const middle = { x: (from.x + to.x) / 2 - uy * bend, y: (from.y + to.y) / 2 + ux * bend };
  const path = `M${start.x} ${start.y}Q${middle.x} ${middle.y} ${end.x} ${end.y}`;
  const isChosen = chosen.value !== null && keyOf(chosen.value) === keyOf(line);
  const choose = (): void => void (chosen.value = line);
  return (
    <g
      class={`edge ${line.origin === null ? "seen" : "written"} ${isChosen ? "chosen" : ""}`}
      role="button"
      tabindex={0}
      data-item
      aria-label={`${line.from} to ${line.to}, ${line.count} messages`}
      onClick={choose}
      onKeyDown={(event) => event.key === "Enter" && choose()}
    >
      <path class="reach" d={path} />
      <path class="line" d={path} marker-end="url(#tip)" />
      {line.count > 0 && (
        <text x={middle.x} y={middle.y} dy="4">
          {line.count}
        </text>
      )}
    </g>
  );
}

function Node({ name, x, y }: { name: string } & Point): VNode {
  const agent = agents.value.find(({ view: { value } }) => value.name === name && value.team === shownTeam.value)?.view
    .value;
  const kind = agent?.state ?? (name === "user" ? "user" : "object");
  return (
    <g class={`node ${kind} ${agent?.presence ?? ""}`} transform={`translate(${x} ${y})`}>
      <circle r={radius} />
      <text class="initials" dy="5">
        {name.slice(0, 2)}
      </text>
      <text class="name" y={radius + 17}>
        {name}
      </text>
      <title>{`${name}: ${kind}`}</title>
    </g>
  );
}

function Traffic({ line }: { line: Line }): VNode {
  const those = timeline.value.filter(({ receipt }) => {
    const { from, deliveries, team } = receipt.peek();
    return team === shownTeam.value && from === line.from && deliveries.some(({ agent }) => agent === line.to);
  });
  const remove = async (): Promise<void> => {
    if (await removeEdge(shownTeam.peek(), line)) chosen.value = null;
  };
  return (
    <aside class="traffic" aria-label={`Traffic from ${line.from} to ${line.to}`}>
      <header>
        <h2>
          {line.from} → {line.to}
        </h2>
        <button class="quiet" aria-label="Close" onClick={() => (chosen.value = null)}>
          <Icon name="close" />
        </button>
      </header>
      <p class="muted">
        {those.length} messages ·{" "}
        {line.origin === null
          ? "not an edge: a reply, or no topology"
          : line.origin === "config"
            ? "from tieline.yaml"
            : "added at run time"}
      </p>
      <ul>
        {those
          .slice(-30)
          .toReversed()
          .map(({ tag, receipt }) => (
            <li key={tag}>
              <a href={linkTo("messages", tag)}>
                <time>{timeOf(receipt.value.acceptedAt)}</time> {visible(receipt.value.summary)}
              </a>
            </li>
          ))}
      </ul>
      {line.origin !== null && (
        <Act class="danger" aria-keyshortcuts="x" title="Remove this edge (x)" onClick={() => void remove()}>
          Remove this edge
        </Act>
      )}
    </aside>
  );
}

function Refused(): VNode | null {
  const those = denials.value
    .filter(({ team }) => team === shownTeam.value)
    .slice(-5)
    .toReversed();
  if (those.length === 0) return null;
  return (
    <ul class="refused" aria-label="Refused">
      {those.map(({ at, from, to, allowed }) => (
        <li key={`${at} ${from} ${to}`}>
          <time>{timeOf(at)}</time> <strong>{visible(from)}</strong> may not write to <strong>{visible(to)}</strong>
          {allowed.length === 0 ? "; it has no edges" : `; allowed: ${allowed.join(", ")}`}
        </li>
      ))}
    </ul>
  );
}
