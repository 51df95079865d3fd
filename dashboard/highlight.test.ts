import { expect, test } from "bun:test";
import { patternOf } from "./highlight.ts";

const marked = (query: string, text: string): string[] =>
  [...text.matchAll(patternOf(query) ?? /(?!)/g)].map(([found]) => found);

test("marks whole words in any case, phrases, and beginnings with a star", () => {
  expect(marked("login", "Login and logins")).toEqual(["Login"]);
  expect(marked("log*", "Login and logins")).toEqual(["Log", "log"]);
  expect(marked('"on safari" fails', "it fails on Safari, on  safari")).toEqual(["fails", "on Safari", "on  safari"]);
  expect(marked("auth.ts", "in auth.ts and auth/ts")).toEqual(["auth.ts", "auth/ts"]);
});

test("text without words marks nothing, and text is no pattern", () => {
  expect(patternOf("-> ()")).toBeNull();
  expect(marked("a.*b", "a.*b axxb")).toEqual(["a.*b"]);
  expect(marked("ünï", "ünï Ünï")).toEqual(["ünï", "Ünï"]);
});
