import { describe, expect, test } from "bun:test";
import { readdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../src/testing/until.ts";
import {
  drop,
  inboxNames,
  inboxOf,
  memoryBoundMb,
  peakMemoryMb,
  rejected,
  room,
  startFloodWorld,
  taken,
  waiting,
  whileItAnswers,
} from "./floodWorld.ts";

describe("an agent that has nothing but files", () => {
  test("cannot freeze the daemon or fill its memory with 10,000 small files, and gets a few notices", async () => {
    await using world = await startFloodWorld();
    drop(world, 10_000, () => ({ to: "unknown", content: "x" }));
    const answers = await whileItAnswers(world, () =>
      until(() => waiting(world).length + taken(world).length === 0, "the outbox to be empty", 240_000),
    );
    expect(answers).toBeGreaterThan(3);
    expect(rejected(world)).toHaveLength(20_000);
    expect(inboxOf(world, "writer").length).toBeLessThanOrEqual(8);
    expect(await peakMemoryMb(world)).toBeLessThan(memoryBoundMb);
  }, 300_000);

  test("gets 1,000 files sent in order, none lost and none twice", async () => {
    await using world = await startFloodWorld({ guards: { perPairPerMinute: 100_000, perSenderPerMinute: 100_000 } });
    drop(world, 1_000, (at) => ({ to: "reader", content: `message ${at}` }));
    await whileItAnswers(world, () => until(() => inboxNames(world, "reader").length >= 1_000, "all files", 240_000));
    expect(inboxOf(world, "reader").map(({ content }) => content)).toEqual(
      Array.from({ length: 1_000 }, (_, at) => `message ${at}`),
    );
    expect(await peakMemoryMb(world)).toBeLessThan(memoryBoundMb);
  }, 300_000);

  test("gets one notice that it writes too fast; its files wait in order and are sent when they may", async () => {
    await using world = await startFloodWorld({ guards: { perPairPerMinute: 5 } });
    drop(world, 300, (at) => ({ to: "reader", content: `message ${at}` }));
    await until(
      () => inboxNames(world, "reader").length === 5 && inboxNames(world, "writer").length === 1,
      "the limit to be met",
    );
    expect(inboxOf(world, "writer")).toMatchObject([
      { from: "tieline", content: expect.stringContaining("within a minute, which is the limit") },
    ]);
    expect(waiting(world).length + taken(world).length).toBe(295);
    expect(rejected(world)).toEqual([]);
    await world.killDaemon();
    writeFileSync(
      join(world.env["TIELINE_HOME"]!, "config.json"),
      JSON.stringify({ guards: { perPairPerMinute: 100_000, perSenderPerMinute: 100_000 } }),
    );
    await world.ls();
    await until(() => inboxNames(world, "reader").length === 300, "the files that waited", 60_000);
    expect(inboxOf(world, "reader").map(({ content }) => content)).toEqual(
      Array.from({ length: 300 }, (_, at) => `message ${at}`),
    );
  }, 120_000);

  test("cannot make the daemon read what it put into its own inbox", async () => {
    await using world = await startFloodWorld();
    const inbox = room(world, "writer", ".inbox");
    for (let at = 0; at < 400; at++) {
      const path = join(inbox, `${String(at + 1).padStart(4, "0")}_self.json`);
      writeFileSync(path, "");
      truncateSync(path, 16 << 20);
    }
    await world.killDaemon();
    await world.ls();
    drop(world, 1, () => ({ to: "unknown", content: "x" }));
    await until(() => rejected(world).length === 2, "the file to be put aside");
    await until(() => readdirSync(inbox).some((name) => name.endsWith("_tieline.json")), "the notice");
    expect(await peakMemoryMb(world)).toBeLessThan(memoryBoundMb);
  });
});
