import { expect, test } from "bun:test";
import { hueOf, initialsOf } from "./initials.ts";

test.each([
  ["worker-17", "w17"],
  ["worker-117", "w17"],
  ["worker2", "w2"],
  ["code-reviewer", "cr"],
  ["codeReviewer", "cr"],
  ["lead", "le"],
  ["_", "_"],
  ["a", "a"],
  ["QA", "qa"],
  ["HTTPServer", "hs"],
  ["x".repeat(64), "xx"],
  ["", ""],
])("%s has the initials %s", (name, initials) => {
  expect(initialsOf(name)).toBe(initials);
});

test("52 numbered workers have 52 different avatars, in colours that are spread", () => {
  const names = Array.from({ length: 52 }, (_, at) => `worker-${at + 1}`);
  const hues = names.map(hueOf);
  expect(new Set(names.map((name, at) => `${initialsOf(name)} ${hues[at]}`)).size).toBe(52);
  expect(hues.every((hue) => hue >= 0 && hue < 360)).toBeTrue();
  for (const third of [0, 120, 240])
    expect(hues.filter((hue) => hue >= third && hue < third + 120).length).toBeGreaterThan(5);
});
