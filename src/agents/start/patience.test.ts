import { expect, test } from "bun:test";
import { lookFor } from "./patience.ts";
import { systemTimers } from "../../os/timers.ts";

/** Time that passes only in pauses. */
function aDay() {
  const pauses: number[] = [];
  let now = 0;
  const pause = async (ms: number): Promise<void> => {
    pauses.push(ms);
    now += ms;
  };
  return { pauses, patience: { timers: { ...systemTimers, elapsed: () => now, pause } } };
}

test("returns a result that is there at once without a pause", async () => {
  const { pauses, patience } = aDay();
  expect(await lookFor(async () => "it", 0, patience)).toBe("it");
  expect(pauses).toEqual([]);
});

test("polls with growing pauses, up to a limit", async () => {
  const { pauses, patience } = aDay();
  expect(await lookFor(async () => (pauses.length === 8 ? pauses.length : undefined), 10_000, patience)).toBe(8);
  expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 200, 200]);
});

test("stops polling at the deadline", async () => {
  const { pauses, patience } = aDay();
  let looks = 0;
  const look = async (): Promise<undefined> => void looks++;
  expect(await lookFor(look, 100, patience)).toBeUndefined();
  expect(looks).toBe(pauses.length + 1);
  expect(patience.timers.elapsed()).toBeGreaterThan(100);
});

test("fails when a poll fails", async () => {
  const { patience } = aDay();
  await expect(lookFor(() => Promise.reject(new Error("cannot look")), 100, patience)).rejects.toThrow("cannot look");
});
