import { expect, test } from "bun:test";
import { labelledScreens } from "../../testing/screens.ts";
import { classify } from "../screen.ts";
import { providers } from "../../compose/providers.ts";

test("a program that tries to reach its model again says why on its screen, and no other screen reads so", () => {
  const found = labelledScreens().flatMap(({ file, provider, screen }) => {
    const { retrying } = classify(providers.screen(provider), screen);
    return retrying === undefined ? [] : [[file, retrying] as const];
  });
  expect(found).toEqual([
    ["claude-code/api-401-error.ansi.txt", "401 invalid x-api-key"],
    ["claude-code/api-500-retrying.ansi.txt", "500 fake error 500"],
    ["codex/error-retrying-500.ansi.txt", "We’re currently experiencing high demand, which may cause temporary errors"],
    ["codex/error-retrying-refused.ansi.txt", "Connection failed: error sending request"],
  ]);
});
