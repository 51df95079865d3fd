import { expect, test } from "bun:test";
import { layout, pin, place } from "./force.ts";

const names = Array.from({ length: 12 }, (_, at) => `agent${at}`);
const pulls = names.slice(1).map((name) => ({ from: "agent0", to: name }));

function settle(aspect = 1) {
  const bodies = place(names, new Map());
  const simulation = layout(bodies, pulls, aspect);
  simulation.tick(300);
  const before = [...bodies.values()].map(({ x, y }) => ({ x, y }));
  simulation.tick();
  const moved = [...bodies.values()].map(({ x, y }, at) => Math.hypot(x - before[at]!.x, y - before[at]!.y));
  return { bodies: [...bodies.values()], moved: Math.max(...moved) };
}

test("comes to rest without nodes on top of each other", () => {
  const { bodies, moved } = settle();
  expect(moved).toBeLessThan(0.5);
  for (const a of bodies)
    for (const b of bodies) if (a !== b) expect(Math.hypot(a.x - b.x, a.y - b.y)).toBeGreaterThan(45);
});

test("the same team always looks the same", () => {
  expect(settle().bodies).toEqual(settle().bodies);
});

test("the agent that all others write to ends up in the middle", () => {
  const [first, ...others] = settle().bodies;
  const far = others.map(({ x, y }) => Math.hypot(x, y));
  expect(Math.hypot(first!.x, first!.y)).toBeLessThan(Math.min(...far));
});

test("a wide room is filled in its width", () => {
  const { bodies } = settle(1.5);
  const reach = (axis: "x" | "y"): number => Math.max(...bodies.map((body) => Math.abs(body[axis])));
  expect(reach("x")).toBeGreaterThan(reach("y"));
});

test("nodes that have come to rest stay where they are when others come", () => {
  const before = place(names, new Map());
  layout(before, pulls).tick(300);
  pin(before);
  const at = [...before.values()].map(({ x, y }) => [x, y]);
  const after = place([...names, "new"], before);
  layout(after, [...pulls, { from: "new", to: "agent3" }]).tick(300);
  expect(names.map((name) => [after.get(name)!.x, after.get(name)!.y])).toEqual(at);
  for (const name of names)
    expect(
      Math.hypot(after.get(name)!.x - after.get("new")!.x, after.get(name)!.y - after.get("new")!.y),
    ).toBeGreaterThan(40);
});

test("a node begins at the same place, whatever other nodes there are", () => {
  const alone = place(["agent3"], new Map()).get("agent3")!;
  const among = place(names, new Map()).get("agent3")!;
  expect(Math.atan2(alone.y, alone.x)).toBeCloseTo(Math.atan2(among.y, among.x), 5);
});
