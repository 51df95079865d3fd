import { expect, test } from "bun:test";
import { mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Check, InboxView, ReceiptView } from "../../src/api/schema.ts";
import { describeUnless } from "../../src/testing/needing.ts";
import { registerReader } from "../../src/testing/reader.ts";
import { lackOfMounts, smallDisk } from "../../src/testing/smallDisk.ts";
import { until } from "../../src/testing/until.ts";
import { startWorld, type World } from "../../src/testing/world.ts";

/** Disks that are full, in part or whole, while the daemon starts and runs. */
describeUnless(lackOfMounts())("a full disk", () => {
  const eventsCheck = async (world: World, env: Record<string, string> = {}): Promise<Check> => {
    const { stdout } = await world.tieline(["doctor", "--json"], { env });
    return (JSON.parse(stdout) as Check[]).find(({ name }) => name === "events")!;
  };

  test("under events.db keeps the daemon neither from starting nor from serving mail, and events recover", async () => {
    using disk = smallDisk(1024 * 1024);
    await using world = await startWorld();
    const home = world.env["TIELINE_HOME"]!;
    symlinkSync(join(disk.dir, "events.db"), join(home, "events.db"));
    disk.fill();
    await world.json(["daemon", "start"]);
    const { token } = await registerReader("ana", world.env);
    const { tag } = await world.json<ReceiptView>(["send", "ana", "while events cannot be kept"]);
    const read = await world.json<InboxView[]>(["inbox"], { env: { TIELINE_TOKEN: token } });
    expect(read.map(({ body }) => body)).toEqual(["while events cannot be kept"]);
    expect((await world.status(tag)).deliveries[0]!.state).toBe("seen");
    expect(await eventsCheck(world)).toMatchObject({
      status: "warning",
      detail: expect.stringMatching(/^not kept at present: .*full.*; \d+ lost$/),
    });

    disk.empty();
    await until(async () => {
      await world.json(["send", "ana", "another"]);
      return !(await eventsCheck(world)).detail.startsWith("not kept");
    }, "events to be kept again");
    expect(statSync(join(disk.dir, "events.db")).size).toBeGreaterThan(0);
  });

  test("lets the daemon start and read; sends are refused, and accepted once there is room", async () => {
    using disk = smallDisk(12 * 1024 * 1024);
    await using world = await startWorld();
    const env = { TIELINE_HOME: join(disk.dir, "home") };
    mkdirSync(env.TIELINE_HOME, { mode: 0o700 });
    await world.json(["daemon", "start"], { env });
    await registerReader("ana", { ...world.env, ...env });
    await world.json(["send", "ana", "first"], { env });
    await world.tieline(["daemon", "stop"], { env });

    disk.fill();
    expect(await world.json<ReceiptView[]>(["log"], { env })).toHaveLength(1);
    const refused = await world.tieline(["send", "ana", "-"], { env, stdin: "x".repeat(200_000) });
    expect([refused.code, refused.stderr]).toEqual([
      5,
      expect.stringMatching(/^error STORE_UNAVAILABLE: the disk is full/),
    ]);
    disk.empty();
    await world.json(["send", "ana", "second"], { env });
    await world.tieline(["daemon", "stop"], { env });
    expect(await world.json<ReceiptView[]>(["log"], { env })).toHaveLength(2);
    await world.tieline(["daemon", "stop"], { env });
  });

  test("that leaves a byte more each time never gives a half-made home", async () => {
    await using world = await startWorld();
    using disk = smallDisk(1024 * 1024);
    const env = { TIELINE_HOME: join(disk.dir, "home") };
    for (let free = 0; free <= 480; free += 80) {
      rmSync(env.TIELINE_HOME, { recursive: true, force: true });
      writeFileSync(join(disk.dir, "room"), new Uint8Array(free * 1024));
      disk.fill();
      rmSync(join(disk.dir, "room"));
      const { code, stderr } = await world.tieline(["ls"], { env });
      if (code !== 0)
        expect([free, code, stderr]).toEqual([free, 5, expect.stringMatching(/^error STORE_UNAVAILABLE: /)]);
      await world.tieline(["daemon", "stop"], { env });
      disk.empty();
      expect([free, (await world.tieline(["ls"], { env })).stderr]).toEqual([free, ""]);
      await world.tieline(["daemon", "stop"], { env });
    }
  }, 120_000);
});
