/** The layout of the graph: d3-force with our distances, stepped by the view. */
import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type Simulation,
  type SimulationNodeDatum,
} from "d3-force";

export interface Body extends SimulationNodeDatum {
  readonly name: string;
  x: number;
  y: number;
}

export interface Pull {
  readonly from: string;
  readonly to: string;
}

/** The length at which an edge neither pulls nor pushes. */
const edgeLength = 170;
/** Half of the least distance between two nodes: the circle and its name. */
const bodyRadius = 45;

/**
 * Where nodes are. One that was placed before stays there for good (`fx`, `fy`); a new one begins at a place that
 * follows from its name, so that the same team always looks the same.
 */
export function place(names: readonly string[], known: ReadonlyMap<string, Body>): Map<string, Body> {
  const radius = 90 + 18 * Math.sqrt(names.length);
  return new Map(
    names.map((name) => {
      const before = known.get(name);
      if (before !== undefined) return [name, before];
      const seed = seedOf(name);
      const [angle, far] = [2 * Math.PI * seed, radius * (0.6 + 0.4 * seedOf(`${name} far`))];
      return [name, { name, x: far * Math.cos(angle), y: far * Math.sin(angle) }];
    }),
  );
}

/** Nodes that have come to rest do not move when others come. */
export function pin(bodies: ReadonlyMap<string, Body>): void {
  for (const body of bodies.values()) [body.fx, body.fy] = [body.x, body.y];
}

/** A number from 0 to 1 that follows from a text (FNV-1a). */
function seedOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193) >>> 0;
  return hash / 0xffffffff;
}

/** A layout that has not moved yet. `aspect`: width by height of the room, which the layout fills. */
export function layout(bodies: ReadonlyMap<string, Body>, pulls: readonly Pull[], aspect = 1): Simulation<Body, never> {
  const links = pulls
    .filter(({ from, to }) => bodies.has(from) && bodies.has(to))
    .map(({ from, to }) => ({ source: from, target: to }));
  return forceSimulation([...bodies.values()])
    .stop()
    .force("apart", forceManyBody().strength(-900))
    .force(
      "edges",
      forceLink<Body, (typeof links)[number]>(links)
        .id(({ name }) => name)
        .distance(edgeLength),
    )
    .force("room", forceCollide(bodyRadius))
    .force("x", forceX(0).strength(0.08 / aspect))
    .force("y", forceY(0).strength(0.08 * aspect)) as Simulation<Body, never>;
}
