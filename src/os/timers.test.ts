import { expect, jest, test } from "bun:test";
import { join } from "node:path";
import { timersContract } from "../testing/timersContract.ts";
import { pacer, systemTimers } from "./timers.ts";

timersContract("system", () => ({ timers: systemTimers, settled: (promise) => promise }));

const dayMs = 86_400_000;

/** In steps that the runner can take. */
function advance(ms: number): void {
  for (let left = ms; left > 0; left -= 20 * dayMs) jest.advanceTimersByTime(Math.min(left, 20 * dayMs));
}

test.each([1, 1_000, 24 * dayMs, 25 * dayMs, 60 * dayMs, 400 * dayMs])("calls back after %d ms, not before", (ms) => {
  jest.useFakeTimers();
  try {
    let called = 0;
    systemTimers.after(ms, () => void called++);
    advance(ms - 1);
    expect(called).toBe(0);
    advance(1);
    expect(called).toBe(1);
    advance(100 * dayMs);
    expect(called).toBe(1);
  } finally {
    jest.useRealTimers();
  }
});

test("never calls back after Infinity, nor when it is cancelled on the way", () => {
  jest.useFakeTimers();
  try {
    let called = 0;
    systemTimers.after(Infinity, () => void called++);
    const timer = systemTimers.after(60 * dayMs, () => void called++);
    advance(30 * dayMs);
    timer.cancel();
    advance(1_000 * dayMs);
    expect(called).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

test("a process does not wait for what runs in the background", async () => {
  const script = `
    const { systemTimers } = await import(${JSON.stringify(join(import.meta.dir, "timers.ts"))});
    systemTimers.after(3_600_000, () => undefined, { background: true });
    systemTimers.every(3_600_000, () => undefined, { background: true });
    systemTimers.timeout(3_600_000);
    systemTimers.timeout(2 ** 40);
  `;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "ignore", stderr: "pipe" });
  expect(await child.exited).toBe(0);
});

test("a pacer gives way once its budget is used up", async () => {
  let now = 0;
  let turns = 0;
  const timers = { elapsed: () => now, nextTurn: async () => void turns++ };
  const pace = pacer(timers, 8);
  await pace();
  now = 7;
  await pace();
  expect(turns).toBe(0);
  now = 8;
  await pace();
  now = 15;
  await pace();
  expect(turns).toBe(1);
});
