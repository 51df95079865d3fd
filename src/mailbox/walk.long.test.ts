import { test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { walkMailboxes } from "../testing/mailboxWalk.ts";

test("two thousand walks through memory and SQLite find no difference", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tieline-walk-"));
  try {
    await walkMailboxes(directory, 2_000);
  } finally {
    rmSync(directory, { recursive: true });
  }
}, 1_800_000);
