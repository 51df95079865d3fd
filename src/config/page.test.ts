import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { configurationPage } from "./page.ts";

test("docs/configuration.md is current; scripts/docs-config.ts writes it", () => {
  const written = readFileSync(join(import.meta.dir, "..", "..", "docs", "configuration.md"), "utf8");
  expect(written).toBe(configurationPage());
});

test("every key is described", () => {
  const rows = configurationPage()
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  expect(rows.length).toBeGreaterThan(50);
  for (const row of rows) expect(row).toMatch(/[.…] \|$/);
});
