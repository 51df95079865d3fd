import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { until } from "../../src/testing/until.ts";
import { inboxNames, memoryBoundMb, peakMemoryMb, startFloodWorld, whileItAnswers } from "./floodWorld.ts";

describe("logs that are read", () => {
  test("may have 20,000 lines at once", async () => {
    await using world = await startFloodWorld();
    const lines = Array.from({ length: 20_000 }, () => "@unknown: x").join("\n");
    world.file(
      "logs/today.txt",
      `[2026-01-31 09:00:00] RES: ${lines}\n[2026-01-31 09:00:01] RES: @user: the end\n[2026-01-31 09:00:02] RES: x\n`,
    );
    const answers = await whileItAnswers(world, () =>
      until(async () => (await world.inbox("user")).length > 0, "the last line", 240_000),
    );
    expect(answers).toBeGreaterThan(3);
    expect(inboxNames(world, "writer").length).toBeLessThanOrEqual(8);
    expect(await peakMemoryMb(world)).toBeLessThan(memoryBoundMb);
  }, 300_000);

  test("may be 1,100 files, which are not all open", async () => {
    await using world = await startFloodWorld();
    for (let at = 0; at < 1_100; at++)
      world.file(`logs/${String(at).padStart(4, "0")}.txt`, "[2026-01-31 09:00:00] RES: hello\n");
    world.file("logs/last.txt", "[2026-01-31 09:00:01] RES: @user: the end\n[2026-01-31 09:00:02] RES: x\n");
    await whileItAnswers(world, () =>
      until(async () => (await world.inbox("user")).length > 0, "the last file", 240_000),
    );
    expect(readdirSync(`/proc/${await world.daemonPid()}/fd`).length).toBeLessThan(200);
  }, 300_000);
});
