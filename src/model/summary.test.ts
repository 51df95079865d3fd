import { describe, expect, test } from "bun:test";
import { maxSummaryLength, summarise } from "./summary.ts";

const diff = [
  "diff --git a/src/session.ts b/src/session.ts",
  "--- a/src/session.ts",
  "+++ b/src/session.ts",
  "@@ -1,2 +1,3 @@",
  " same",
  "-old",
  "+new",
  "+more",
].join("\n");

describe("a summary", () => {
  test.each([
    ["  the first line \n and more", "the first line"],
    [diff, "diff of session.ts (+2 −1)"],
    [`\`\`\`diff\n${diff}\n\`\`\``, "diff of session.ts (+2 −1)"],
    [`${diff}\n--- a/x/b.ts\n+++ b/x/b.ts\n+one`, "diff of 2 files (+3 −1): session.ts, b.ts"],
    ["--- /dev/null\n+++ b/new.ts\n+x", "diff of new.ts (+1 −0)"],
    ["```ts\nlet x = 1;\n```", "let x = 1;"],
    ["```\n```", "```"],
    ["--- a heading of some kind", "--- a heading of some kind"],
  ])("of %j is %j", (body, summary) => expect(summarise(body)).toBe(summary));

  test("stays short and quick for text that is made to be slow", () => {
    for (const body of [
      `\`\`\`diff\n${"\n".repeat(500_000)}+x`,
      `\`\`\`${" ".repeat(500_000)}!`,
      `--- a/${"x/".repeat(200_000)}\n+y`,
    ])
      expect([...summarise(body)].length).toBeLessThanOrEqual(maxSummaryLength);
  });
});
