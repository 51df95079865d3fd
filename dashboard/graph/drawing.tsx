/** The nodes and edges, and messages on their way. Nodes keep their places when edges and other nodes come. */
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { initialsOf } from "../agent/initials.ts";
import { onEvent } from "../live.ts";
import { go, linkTo, opened } from "../route.ts";
import { soon } from "../refresh.ts";
import { team } from "../state.ts";
import { layout, pin, place, type Body } from "./force.ts";
import { fitting, shortened } from "./labels.ts";
import { keyIn, labelOf, lineKey, lines, loadEdges, nodes, type GraphLine, type GraphNode } from "./model.ts";
import { refuse, travel, type Point } from "./sparks.ts";

/** Where the nodes of each selection are; null: all teams. */
const places = new Map<string | null, Map<string, Body>>();

/** How long a frame may calculate. */
const frameMs = 10;

export function Drawing(): VNode {
  const layer = useRef<SVGGElement>(null);
  const svg = useRef<SVGSVGElement>(null);
  const tick = useSignal(0);
  const box = useSignal({ width: 800, height: 600 });
  const scope = team.value;
  const bodies = place(
    nodes.value.map(({ key }) => key),
    places.get(scope) ?? new Map<string, Body>(),
  );
  places.set(scope, bodies);
  const shape = `${scope}|${nodes.value.map(({ key }) => key).join(" ")}`;

  useEffect(() => {
    const observer = new ResizeObserver(
      ([entry]) => (box.value = { width: entry!.contentRect.width, height: entry!.contentRect.height }),
    );
    observer.observe(svg.current!);
    return () => observer.disconnect();
  }, []);

  // Only nodes that have no place yet move.
  useEffect(() => {
    if ([...bodies.values()].every(({ fx }) => fx != null)) return;
    const aspect = Math.min(2.2, Math.max(0.6, box.peek().width / Math.max(1, box.peek().height)));
    const simulation = layout(bodies, lines.peek(), aspect);
    let frame = 0;
    const run = (): void => {
      const until = performance.now() + frameMs;
      do simulation.tick();
      while (simulation.alpha() > simulation.alphaMin() && performance.now() < until);
      if (simulation.alpha() > simulation.alphaMin()) frame = requestAnimationFrame(run);
      else pin(bodies);
      tick.value++;
    };
    frame = requestAnimationFrame(run);
    return () => cancelAnimationFrame(frame);
  }, [shape]);

  const stretch = useRef({ x: 1, y: 1 });
  const pointOf = (key: string): Point | null => {
    const body = places.get(team.peek())?.get(key);
    return body ? { x: body.x * stretch.current.x, y: body.y * stretch.current.y } : null;
  };

  useEffect(
    () =>
      onEvent((event) => {
        if (event.type === "message.accepted") {
          soon(loadEdges);
          const from = pointOf(keyIn(event.team, event.from));
          const to = event.recipients.map((name, at) => keyIn(event.recipientTeams?.[at] ?? null, name));
          for (const end of to.slice(0, 50).map(pointOf)) if (from && end) travel(layer.current!, from, end);
        } else if (event.type === "route.denied") {
          const [from, to] = [pointOf(keyIn(event.team, event.from)), pointOf(keyIn(event.team, event.to))];
          if (from && to) refuse(layer.current!, from, to, `${event.from} may not write to ${event.to}`);
        }
      }),
    [],
  );

  // The drawing keeps itself in the box, whatever its size: a small team is drawn apart, a large one small.
  void tick.value;
  const { viewBox, isResting } = frameOf([...bodies.values()], box.value, stretch.current);
  const degrees = new Map<string, number>();
  for (const { from, to } of lines.value) for (const key of [from, to]) degrees.set(key, (degrees.get(key) ?? 0) + 1);
  const named = fitting(
    nodes.value.map(({ key }) => ({
      ...{ key, text: labelOf(key), weight: degrees.get(key) ?? 0 },
      ...(pointOf(key) ?? { x: 0, y: 0 }),
    })),
  );
  return (
    <svg
      ref={svg}
      class={`drawing ${lines.value.length > mostCounts ? "dense" : ""}`}
      viewBox={viewBox}
      role="group"
      aria-label={`The topology of ${team.value ?? "all teams"}`}
      data-resting={isResting}
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
        <Edge key={lineKey(line)} line={line} from={pointOf(line.from)} to={pointOf(line.to)} />
      ))}
      <g ref={layer} class="sparks" />
      {nodes.value.map((node) => (
        <Node key={node.key} node={node} isNamed={named.has(node.key)} {...pointOf(node.key)!} />
      ))}
    </svg>
  );
}

const radius = 22;
/** Around the outermost nodes, for their circles and names. */
const margin = 60;
/** How many pixels a unit of the drawing is at most. */
const largest = 1.3;
/** With more edges, only the counts of the chosen one and of that under the pointer are written. */
const mostCounts = 60;

/** Sets how much the places are stretched to fill the box. */
function frameOf(
  all: readonly Body[],
  { width: boxWidth, height: boxHeight }: { width: number; height: number },
  stretch: { x: number; y: number },
): { viewBox: string; isResting: boolean } {
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
  const fits = Math.min(boxWidth / (x1 - x0 + 2 * margin), boxHeight / (y1 - y0 + 2 * margin), largest);
  const room = { x: boxWidth / fits - 2 * margin, y: boxHeight / fits - 2 * margin };
  stretch.x = Math.min(1.8, Math.max(1, room.x / (x1 - x0)));
  stretch.y = Math.min(1.8, Math.max(1, room.y / (y1 - y0)));
  const [left, right] = [x0 * stretch.x - margin, x1 * stretch.x + margin];
  const [top, bottom] = [y0 * stretch.y - margin, y1 * stretch.y + margin];
  const scale = Math.min(boxWidth / (right - left), boxHeight / (bottom - top), largest);
  const [width, height] = [boxWidth / scale, boxHeight / scale];
  return {
    viewBox: `${(left + right - width) / 2} ${(top + bottom - height) / 2} ${width} ${height}`,
    isResting: all.every(({ fx }) => fx != null),
  };
}

function Edge({ line, from, to }: { line: GraphLine; from: Point | null; to: Point | null }): VNode | null {
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
  const key = lineKey(line);
  const choose = (): void => go("graph", key);
  return (
    <g
      class={`edge ${line.edge === null ? "seen" : "written"} ${opened.value === key ? "chosen" : ""}`}
      role="button"
      tabindex={0}
      data-item
      aria-label={`${labelOf(line.from)} to ${labelOf(line.to)}, ${line.count.toLocaleString()} messages`}
      onClick={choose}
      onKeyDown={(event) => event.key === "Enter" && choose()}
    >
      <path class="reach" d={path} />
      <path class="line" d={path} marker-end="url(#tip)" />
      {line.count > 0 && (
        <text x={middle.x} y={middle.y} dy="4">
          {line.count.toLocaleString()}
        </text>
      )}
    </g>
  );
}

function Node({ node: { key, name, cell }, isNamed, x, y }: { node: GraphNode; isNamed: boolean } & Point): VNode {
  const agent = cell?.view.value;
  const kind = agent?.state ?? (key === "user" ? "user" : "object");
  const label = labelOf(key);
  const drawn = (
    <g class={`node ${kind} ${agent?.presence ?? ""} ${isNamed ? "" : "crowded"}`} data-key={key}>
      <circle r={radius} />
      <text class="initials" dy="5">
        {initialsOf(name)}
      </text>
      <text class="name" y={radius + 17}>
        {shortened(label)}
      </text>
      <title>{`${label}: ${kind}`}</title>
    </g>
  );
  const at = `translate(${x} ${y})`;
  if (agent === undefined) return <g transform={at}>{drawn}</g>;
  return (
    <g transform={at}>
      <a href={linkTo("agents", key)} aria-label={`${label}, ${kind}`}>
        {drawn}
      </a>
    </g>
  );
}
