import { expect, test } from "bun:test";
import { place, step } from "./force.ts";

const names = Array.from({ length: 12 }, (_, at) => `agent${at}`);
const pulls = names.slice(1).map((name) => ({ from: "agent0", to: name }));

function settle(aspect = 1) {
  const bodies = place(names, new Map());
  let moved = Infinity;
  for (let heat = 1; heat > 0.02; heat *= 0.985)
    for (let turn = 0; turn < 4; turn++) moved = step(bodies, pulls, heat, aspect);
  return { bodies: [...bodies.values()], moved };
}

test("comes to rest with nobody on top of anybody", () => {
  const { bodies, moved } = settle();
  expect(moved).toBeLessThan(0.5);
  for (const a of bodies)
    for (const b of bodies) if (a !== b) expect(Math.hypot(a.x - b.x, a.y - b.y)).toBeGreaterThan(45);
});

test("whom everybody writes to ends up in the middle", () => {
  const [first, ...others] = settle().bodies;
  const far = others.map(({ x, y }) => Math.hypot(x, y));
  expect(Math.hypot(first!.x, first!.y)).toBeLessThan(Math.min(...far));
});

test("a wide room is filled in its width", () => {
  const { bodies } = settle(1.5);
  const reach = (axis: "x" | "y"): number => Math.max(...bodies.map((body) => Math.abs(body[axis])));
  expect(reach("x")).toBeGreaterThan(reach("y"));
});

test("those who were there stay where they are when somebody comes", () => {
  const before = place(names, new Map());
  expect(place([...names, "new"], before).get("agent3")).toBe(before.get("agent3")!);
});
