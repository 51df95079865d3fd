import { expect, test } from "bun:test";
import { fold, type Step } from "./fold.ts";

const step = (more: Partial<Step>): Step => ({
  at: 0,
  agent: "a",
  agentId: "1",
  team: null,
  verb: "hold",
  from: "queued",
  to: "queued",
  reason: "busy",
  proof: null,
  transport: null,
  ...more,
});

test("joins steps that differ only in time, and counts those that were not kept", () => {
  const steps = [
    step({ verb: "accept", from: null, reason: null }),
    step({ at: 1 }),
    step({ at: 2, leftOut: 40 }),
    step({ at: 3 }),
    step({ at: 4, reason: "a dialog is open" }),
    step({ at: 5 }),
  ];
  expect(fold(steps).map(({ steps: those, leftOut }) => [those[0]!.at, those.at(-1)!.at, leftOut])).toEqual([
    [0, 0, 0],
    [1, 3, 40],
    [4, 4, 0],
    [5, 5, 0],
  ]);
  expect(fold([])).toEqual([]);
});

test("an attempt that ends in a hold is one step, and 25,000 of them are one fold", () => {
  const attempt = (at: number): Step[] => [
    step({ at, verb: "claim", to: "claimed", reason: null }),
    step({ at: at + 1, verb: "settle", from: "claimed" }),
  ];
  const steps = Array.from({ length: 12_500 }, (_, at) => attempt(at * 2)).flat();
  const last = step({ at: 30_000, verb: "claim", to: "claimed", reason: null });
  const [held, claimed] = fold([...steps, last]);
  expect(held!.steps).toHaveLength(12_500);
  expect(claimed!.steps).toEqual([last]);
});
