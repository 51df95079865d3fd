import { expect, test } from "bun:test";
import { fuzzy } from "./fuzzy.ts";

const best = (query: string, texts: readonly string[]): string | undefined =>
  texts
    .flatMap((text) => {
      const match = fuzzy(query, text);
      return match === null ? [] : [{ text, score: match.score }];
    })
    .toSorted((a, b) => b.score - a.score)[0]?.text;

test.each([
  ["rev", ["preview", "reviewer"], "reviewer"],
  ["cr", ["crane", "code-reviewer", "across"], "crane"],
  ["cdr", ["crane", "code-reviewer"], "code-reviewer"],
  ["write lead", ["Write to engineer", "Write to lead", "lead"], "Write to lead"],
  ["w17", ["worker-1", "worker-17", "worker-71"], "worker-17"],
  ["zzz", ["lead"], undefined],
])("%s of %p is %p", (query, texts, expected) => {
  expect(best(query, texts)).toBe(expected);
});

test("everything matches an empty query, and nothing is marked", () => {
  expect(fuzzy("  ", "lead")).toMatchObject({ at: [] });
});

test("says which letters matched", () => {
  expect(fuzzy("tl", "The Lead")?.at).toEqual([0, 4]);
  expect(fuzzy("ead", "Lead")?.at).toEqual([1, 2, 3]);
});

test("a hostile query of 10,000 letters is answered", () => {
  expect(fuzzy("a".repeat(10_000), "a".repeat(500))).toBeNull();
  expect(fuzzy(".*+?^${}()|[]\\", "a.b")).toBeNull();
});
