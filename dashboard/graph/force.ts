/** A small force layout: nodes push each other away, edges pull, everything drifts to the middle and comes to rest. */
export interface Body {
  readonly name: string;
  x: number;
  y: number;
  vx: number;
  vy: number;
  /** Somebody holds it. */
  held: boolean;
}

export interface Pull {
  readonly from: string;
  readonly to: string;
}

const push = 14_000;
const spring = 0.03;
const length = 170;
const middle = 0.008;
const damping = 0.82;

/** Where a new node begins: on a ring, each at an angle of its own, so that the same team always looks the same. */
export function place(names: readonly string[], known: ReadonlyMap<string, Body>): Map<string, Body> {
  return new Map(
    names.map((name, at) => {
      const angle = (2 * Math.PI * at) / Math.max(1, names.length);
      const radius = 90 + 18 * Math.sqrt(names.length);
      return [
        name,
        known.get(name) ?? {
          name,
          x: radius * Math.cos(angle),
          y: radius * Math.sin(angle),
          vx: 0,
          vy: 0,
          held: false,
        },
      ];
    }),
  );
}

/** One step; answers how much still moves. `aspect`: width by height of the room, which the layout fills. */
export function step(bodies: ReadonlyMap<string, Body>, pulls: readonly Pull[], heat: number, aspect = 1): number {
  const all = [...bodies.values()];
  for (let a = 0; a < all.length; a++) for (let b = a + 1; b < all.length; b++) repel(all[a]!, all[b]!, heat);
  for (const { from, to } of pulls) attract(bodies.get(from), bodies.get(to), heat);
  let moved = 0;
  for (const body of all) {
    body.vx = (body.vx - (body.x * middle * heat) / aspect) * damping;
    body.vy = (body.vy - body.y * middle * heat * aspect) * damping;
    if (body.held) continue;
    body.x += body.vx;
    body.y += body.vy;
    moved += Math.abs(body.vx) + Math.abs(body.vy);
  }
  return moved / Math.max(1, all.length);
}

function repel(a: Body, b: Body, heat: number): void {
  const dx = a.x - b.x || 0.1;
  const dy = a.y - b.y || 0.1;
  const squared = Math.max(400, dx * dx + dy * dy);
  const force = (push / squared) * heat;
  const distance = Math.sqrt(squared);
  a.vx += (dx / distance) * force;
  a.vy += (dy / distance) * force;
  b.vx -= (dx / distance) * force;
  b.vy -= (dy / distance) * force;
}

function attract(a: Body | undefined, b: Body | undefined, heat: number): void {
  if (!a || !b) return;
  const dx = b.x - a.x;
  const dy = b.y - a.y;
  const distance = Math.max(1, Math.hypot(dx, dy));
  const force = (distance - length) * spring * heat;
  a.vx += (dx / distance) * force;
  a.vy += (dy / distance) * force;
  b.vx -= (dx / distance) * force;
  b.vy -= (dy / distance) * force;
}
