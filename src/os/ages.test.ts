import { expect, test } from "bun:test";
import { Ages } from "./ages.ts";

function clocks() {
  const time = { wall: 1_000_000, elapsed: 50 };
  return {
    time,
    pass: (ms: number) => ((time.wall += ms), (time.elapsed += ms)),
    ages: new Ages(
      () => time.wall,
      () => time.elapsed,
    ),
  };
}

test.each([60_000, -60_000, 600_000, -600_000, 60 * 86_400_000, -60 * 86_400_000])(
  "the age of a stamp grows with time, also when the clock is set by %d ms",
  (jump) => {
    const { time, pass, ages } = clocks();
    const at = time.wall - 200;
    expect(ages.of("a", at)).toBe(200);
    pass(300);
    expect(ages.of("a", at)).toBe(500);
    time.wall += jump;
    expect(ages.of("a", at)).toBe(500);
    pass(700);
    expect(ages.of("a", at)).toBe(1_200);
  },
);

test("a stamp from before the clock was set back is new when it is first seen, and grows old", () => {
  const { time, pass, ages } = clocks();
  const at = time.wall;
  time.wall -= 600_000;
  expect(ages.of("a", at)).toBe(0);
  pass(1_500);
  expect(ages.of("a", at)).toBe(1_500);
});

test("another stamp under the same key starts again", () => {
  const { time, pass, ages } = clocks();
  ages.of("a", time.wall);
  pass(5_000);
  expect(ages.of("a", time.wall)).toBe(0);
  expect(ages.of("b", time.wall - 5_000)).toBe(5_000);
});

test("what is remembered is bounded", () => {
  const { time, pass, ages } = clocks();
  const at = time.wall;
  for (let n = 0; n < 10_000; n++) ages.of(`key ${n}`, at);
  time.wall -= 600_000;
  pass(1_000);
  expect(ages.of("key 9999", at)).toBe(1_000);
  expect(ages.of("key 0", at)).toBe(0);
});
