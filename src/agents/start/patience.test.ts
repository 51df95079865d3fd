import { expect, test } from "bun:test";
import { lookFor } from "./patience.ts";

/** Time that passes only in pauses. */
function aDay() {
  const pauses: number[] = [];
  let now = 0;
  const pause = async (ms: number): Promise<void> => {
    pauses.push(ms);
    now += ms;
  };
  return { pauses, patience: { clock: () => now, pause } };
}

test("what is there at once is found without a pause, whatever the patience", async () => {
  const { pauses, patience } = aDay();
  expect(await lookFor(async () => "it", 0, patience)).toBe("it");
  expect(pauses).toEqual([]);
});

test("pauses grow, up to a limit, until it comes", async () => {
  const { pauses, patience } = aDay();
  expect(await lookFor(async () => (pauses.length === 8 ? pauses.length : undefined), 10_000, patience)).toBe(8);
  expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 200, 200]);
});

test("what does not come is not looked for for ever", async () => {
  const { pauses, patience } = aDay();
  let looks = 0;
  const look = async (): Promise<undefined> => void looks++;
  expect(await lookFor(look, 100, patience)).toBeUndefined();
  expect(looks).toBe(pauses.length + 1);
  expect(patience.clock()).toBeGreaterThan(100);
});

test("a look that fails ends it", async () => {
  const { patience } = aDay();
  await expect(lookFor(() => Promise.reject(new Error("no eyes")), 100, patience)).rejects.toThrow("no eyes");
});
