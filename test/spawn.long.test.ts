import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { InboxView, ReceiptView } from "../src/api/schema.ts";
import { until } from "../src/testing/until.ts";
import { startWorld } from "../src/testing/world.ts";

test("a crash loop is five starts with growing pauses; then the mail bounces, and a retry starts over", async () => {
  const yaml = "team: web\nagents:\n  ana: { command: [sh, ./crash.sh], cwd: . }\n";
  await using world = await startWorld({ files: { "tieline.yaml": yaml, "crash.sh": "echo started >>starts\n" } });
  const { tag } = await world.json<ReceiptView>(["send", "ana", "hello"]);
  const second = await world.json<ReceiptView>(["send", "ana", "are you there?"]);
  const failed = async (): Promise<boolean> => (await world.status(second.tag)).deliveries[0]!.state === "failed";
  await until(failed, "the mail to be given back", 200_000);
  expect(readFileSync(join(world.project, "starts"), "utf8")).toBe("started\n".repeat(5));
  const bounces = (await world.json<InboxView[]>(["inbox"])).filter(({ kind }) => kind === "bounce");
  expect(bounces.map(({ answers }) => answers)).toEqual([tag, second.tag]);
  expect(bounces[0]!.body).toContain(
    `${tag} to ana was not delivered: SPAWN_FAILED: it failed to start 5 times in a row`,
  );

  world.file("crash.sh", "exec cat\n");
  await world.json(["retry", tag]);
  await until(
    async () => (await world.status(tag)).deliveries[0]!.state === "delivered",
    "the retried message to arrive",
    120_000,
  );
  expect(await failed()).toBeTrue();
}, 400_000);
