import { describe, expect, test } from "bun:test";
import { parseJson, parseYaml } from "./text.ts";

const laughs = [
  "a: &a [x, x, x, x, x, x, x, x, x]",
  ...[..."bcdefghi"].map((name, at) => `${name}: &${name} [${Array(9).fill(`*${"abcdefgh"[at]}`).join(", ")}]`),
].join("\n");

describe("a file that is made to exhaust its reader", () => {
  test.each([
    ["aliases of aliases", laughs, "aliases cannot be expanded"],
    ["a value that contains itself", "a: &a\n  b: *a\n", "contains itself"],
    [
      "3,000 levels of maps",
      Array.from({ length: 3_000 }, (_, at) => `${" ".repeat(at)}a:`).join("\n"),
      "deeper than 64 levels",
    ],
    ["20,000 levels of lists", "[".repeat(20_000) + "]".repeat(20_000), "deeper than 64 levels"],
  ])("is CONFIG_INVALID with its place: %s", (_, text, problem) => {
    expect(() => parseYaml("tieline.yaml", text)).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        message: expect.stringMatching(new RegExp(`^tieline\\.yaml:1:\\d+: .*${problem}`)),
      }),
    );
  });

  test("as JSON is refused by the same bound", () => {
    const text = '{"a":'.repeat(200) + "1" + "}".repeat(200);
    expect(() => parseJson("config.json", text)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining("deeper than 64 levels") }),
    );
  });

  test("60 levels of maps are read, and lines that are indented again and again", () => {
    const maps = (levels: number): string =>
      Array.from({ length: levels }, (_, at) => `${" ".repeat(at)}a:`).join("\n");
    expect(() => parseYaml("tieline.yaml", `${maps(60)} 1\n`)).not.toThrow();
    const flat = Array.from({ length: 500 }, (_, at) => `a${at}:\n  b: |\n      text\n       more\n  # c\n    # d\n`);
    expect(() => parseYaml("tieline.yaml", flat.join("\n"))).not.toThrow();
  });

  test("ordinary aliases are values", () => {
    expect(parseYaml("tieline.yaml", "a: &a [1, 2]\nb: *a\n").value).toEqual({ a: [1, 2], b: [1, 2] });
  });
});
