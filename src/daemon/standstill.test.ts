import { expect, test } from "bun:test";
import { watchStandstill } from "./standstill.ts";
import { systemTimers } from "../os/timers.ts";

test("a long gap between two looks is a standstill, for as long as it takes to catch up", () => {
  let at = 0;
  using standstill = watchStandstill({ timers: { ...systemTimers, elapsed: () => at }, beatMs: 1_000, lateMs: 1_500 });
  at = 2_400;
  expect(standstill.isJustOver()).toBe(false);
  at = 6_000;
  expect(standstill.isJustOver()).toBe(true);
  at = 6_900;
  expect(standstill.isJustOver()).toBe(true);
  at = 7_100;
  expect(standstill.isJustOver()).toBe(false);
});
