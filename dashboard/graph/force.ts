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

/** Where a new node begins: on a ring, each at an angle of its own, so that the same team always looks the same. */
export function place(names: readonly string[], known: ReadonlyMap<string, Body>): Map<string, Body> {
  const radius = 90 + 18 * Math.sqrt(names.length);
  return new Map(
    names.map((name, at) => {
      const angle = (2 * Math.PI * at) / Math.max(1, names.length);
      return [name, known.get(name) ?? { name, x: radius * Math.cos(angle), y: radius * Math.sin(angle) }];
    }),
  );
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
