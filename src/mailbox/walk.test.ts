import { test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { walkMailboxes } from "../testing/mailboxWalk.ts";

test("memory and SQLite agree on any walk, and keep every promise on the way", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tieline-walk-"));
  try {
    await walkMailboxes(directory, 200);
  } finally {
    rmSync(directory, { recursive: true });
  }
}, 120_000);
