import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { didYouMean, distance, nearest, nearNames } from "./near.ts";

describe("near names", () => {
  test.each([
    ["", "", 0],
    ["", "abc", 3],
    ["codr", "coder", 1],
    ["reveiwer", "reviewer", 1],
    ["kitten", "sitting", 3],
  ])("%p and %p are %p slips apart", (a, b, slips) => {
    expect(distance(a, b)).toBe(slips);
  });

  test("the distance is symmetric, zero only for equals, and one for one slip", () => {
    const word = fc.string({ maxLength: 8 });
    fc.assert(
      fc.property(word, word, fc.nat(), (a, b, at) => {
        expect(distance(a, b)).toBe(distance(b, a));
        expect(distance(a, b) === 0).toBe(a === b);
        const cut = at % (a.length + 1);
        expect(distance(a, `${a.slice(0, cut)}#${a.slice(cut)}`)).toBe(1);
      }),
    );
  });

  test("only what is near, nearest first, and nothing for a word of one letter", () => {
    expect(nearNames("codr", ["coder", "corder", "reviewer", "code"])).toEqual(["code", "coder", "corder"]);
    expect(nearNames("zebra", ["coder", "reviewer"])).toEqual([]);
    expect(nearNames("a", ["b", "c"])).toEqual([]);
    expect(nearNames("ana", ["qa", "anna"])).toEqual(["anna"]);
    expect(nearNames("cod", ["coder", "reviewer"])).toEqual(["coder"]);
    expect(nearNames("documentaton-writr", ["documentation-writer"])).toEqual(["documentation-writer"]);
    expect(nearest("zzz", ["far", "farther"])).toBe("far");
    expect(nearest("zzz", [])).toBeNull();
  });

  test("a text that is no name at all takes no longer than one", () => {
    const [long, longer] = ["x".repeat(100_000), "X".repeat(100_001)];
    expect(nearNames(long, [longer])).toEqual([]);
    expect(nearest(long, [longer, "far"])).toBe(longer);
  });

  test("as the end of a sentence", () => {
    expect(didYouMean([])).toBe("");
    expect(didYouMean(["a", "b"])).toBe('; did you mean "a" or "b"?');
  });
});
