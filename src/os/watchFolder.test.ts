import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../testing/until.ts";
import { renewWatcher } from "./watchFolder.ts";

test("what is written at the same moment as a reported change is seen as well", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tl-watching-"));
  const file = join(folder, "notes");
  writeFileSync(file, "");
  let seen = "";
  const watcher = renewWatcher(undefined, folder, () => {
    seen = readFileSync(file, "utf8");
  });
  try {
    for (let round = 1; round <= 60; round++) {
      await Bun.spawn(["sh", "-c", 'printf a >> "$0"; printf b >> "$0"', file]).exited;
      await until(() => seen.length === 2 * round, `both halves of round ${round}`);
    }
    expect(seen).toBe("ab".repeat(60));
  } finally {
    watcher?.close();
    rmSync(folder, { recursive: true });
  }
});
