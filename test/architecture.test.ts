import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { rules } from "./architecture/rules.ts";
import { sourcesBelow } from "./architecture/sources.ts";

describe("the architecture", () => {
  const root = join(import.meta.dir, "..");
  const sources = sourcesBelow(root, "src");
  const others = ["dashboard", "test", "bench", "scripts", "fixtures", "examples"];
  const tree = [...sources, ...others.flatMap((folder) => sourcesBelow(root, folder))];

  test("all source files and their imports are read", () => {
    expect(sources.length).toBeGreaterThan(400);
    expect(sources.flatMap(({ imports }) => imports).length).toBeGreaterThan(2_000);
  });

  describe.each(rules.map((rule) => [rule.name, rule] as const))("%s", (_, { violations, broken, everywhere }) => {
    test("holds", () => expect(violations(everywhere ? tree : sources)).toEqual([]));
    test("is broken by a file that breaks it", () => expect(violations(broken)).not.toEqual([]));
  });
});
