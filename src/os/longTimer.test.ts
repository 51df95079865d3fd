import { expect, jest, test } from "bun:test";
import { after } from "./longTimer.ts";

const dayMs = 86_400_000;

/** In steps that the runner can take. */
function advance(ms: number): void {
  for (let left = ms; left > 0; left -= 20 * dayMs) jest.advanceTimersByTime(Math.min(left, 20 * dayMs));
}

test.each([1, 1_000, 24 * dayMs, 25 * dayMs, 60 * dayMs, 400 * dayMs])("calls back after %d ms, not before", (ms) => {
  jest.useFakeTimers();
  try {
    let called = 0;
    after(ms, () => void called++);
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
    after(Infinity, () => void called++);
    const timer = after(60 * dayMs, () => void called++);
    advance(30 * dayMs);
    timer.cancel();
    advance(1_000 * dayMs);
    expect(called).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});
