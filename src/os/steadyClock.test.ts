import { describe, expect, test } from "bun:test";
import { elapsedFor } from "../model/ids.ts";
import { SteadyClock } from "./steadyClock.ts";

const start = 1_800_000_000_000;
const dayMs = 86_400_000;

/** A machine whose clocks are in the test's hands. */
function machine() {
  const time = { wall: start, elapsed: 100, up: 90_000 };
  const clock = new SteadyClock({ wall: () => time.wall, elapsed: () => time.elapsed, uptime: () => time.up });
  return {
    time,
    clock,
    pass(ms: number) {
      time.wall += ms;
      time.elapsed += ms;
      time.up += ms;
    },
    sleep(ms: number) {
      time.wall += ms;
      time.up += ms;
    },
  };
}

test("goes with the wall clock, and follows it when it is steered", () => {
  const { clock, time, pass } = machine();
  expect(clock.now()).toBe(start);
  pass(1_000);
  time.wall += 30;
  expect([clock.look(), clock.now()]).toEqual([0, start + 1_030]);
  time.wall -= 400;
  expect([clock.look(), clock.now()]).toEqual([0, start + 630]);
});

describe.each([60_000, -60_000, 600_000, -600_000, 60 * dayMs, -60 * dayMs])("a clock that is set by %d ms", (jump) => {
  test("is reported, and followed only when it is taken over", () => {
    const { clock, time, pass } = machine();
    pass(5_000);
    time.wall += jump;
    expect(clock.now()).toBe(start + 5_000);
    expect(clock.look()).toBe(jump);
    pass(2_000);
    expect([clock.look(), clock.now()]).toEqual([jump, start + 7_000]);
    clock.takeOver(jump);
    expect([clock.look(), clock.now()]).toEqual([0, start + jump + 7_000]);
    expect(clock.untouched()).toBe(start + 7_000);
  });

  test("changes no duration", () => {
    const { clock, time, pass } = machine();
    const elapsed = elapsedFor(clock.now);
    const before = elapsed();
    time.wall += jump;
    clock.takeOver(clock.look());
    pass(40);
    expect(elapsed() - before).toBe(40);
  });
});

test("sleep of the machine is time that passed", () => {
  const { clock, pass, sleep } = machine();
  pass(1_000);
  sleep(8 * 3_600_000);
  expect([clock.look(), clock.now()]).toEqual([0, start + 1_000 + 8 * 3_600_000]);
  sleep(2_000);
  expect([clock.look(), clock.now()]).toEqual([0, start + 3_000 + 8 * 3_600_000]);
});

test("an uptime that is not told for a while changes nothing", () => {
  const { clock, time, pass, sleep } = machine();
  const known = time.up;
  time.up = Number.NaN;
  pass(1_000);
  expect([clock.look(), clock.now()]).toEqual([0, start + 1_000]);
  time.up = known + 1_000;
  sleep(60_000);
  expect([clock.look(), clock.now()]).toEqual([0, start + 61_000]);
});
