import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beginMaintenance, refuseDuringMaintenance } from "./maintenance.ts";

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), "tl-maintenance-"))));
afterEach(() => rmSync(root, { recursive: true }));

test("keeps daemons and others like it away until it is over", async () => {
  await refuseDuringMaintenance(root);
  {
    using _work = await beginMaintenance(root, "the mailbox is being repaired");
    expect(await refuseDuringMaintenance(root).catch((error: unknown) => error)).toMatchObject({
      code: "DAEMON_UNAVAILABLE",
      message: `the mailbox is being repaired (process ${process.pid})`,
    });
    expect(await beginMaintenance(root, "another").catch((error: unknown) => error)).toMatchObject({
      code: "CONFLICT",
    });
  }
  await refuseDuringMaintenance(root);
  expect(readdirSync(root)).toEqual([]);
});

test("of a process that was killed is over, and so is an unreadable note", async () => {
  const child = Bun.spawn(["sleep", "60"]);
  child.kill();
  await child.exited;
  for (const note of [
    JSON.stringify({ pid: child.pid, startMark: "1", what: "x" }),
    JSON.stringify({ pid: process.pid, startMark: "another", what: "x" }),
    "{",
  ]) {
    writeFileSync(join(root, "maintenance"), note);
    await refuseDuringMaintenance(root);
    using _work = await beginMaintenance(root, "mine");
    expect(await refuseDuringMaintenance(root).catch((error: { code: string }) => error.code)).toBe(
      "DAEMON_UNAVAILABLE",
    );
  }
});
