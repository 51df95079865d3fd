import { afterAll, beforeAll, expect, test } from "bun:test";
import type { InboxView, ReceiptView } from "../src/client/schema.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

let world: World;
beforeAll(async () => {
  const yaml = "team: web\nobjects: { slow: { module: slow.ts, timeoutMs: 200 } }\n";
  world = await startWorld({ files: { "tieline.yaml": yaml, "slow.ts": "export const onMessage = () => new Promise(() => {});\n" } });
});
afterAll(() => world[Symbol.asyncDispose]());

const notices = async (): Promise<InboxView[]> => (await world.json<InboxView[]>(["inbox", "--peek"])).filter(({ kind }) => kind === "bounce");

test("the sender of a message that stays uncertain gets a notice, once, and it is withdrawn when the doubt is settled", async () => {
  const { tag } = await world.json<ReceiptView>(["send", "slow", "are you there"]);
  await until(async () => (await world.status(tag)).deliveries[0]!.state === "uncertain", "an uncertain delivery");
  expect(await notices()).toEqual([]);
  await until(async () => (await notices()).length > 0, "the notice");
  const [notice] = await notices();
  expect(notice).toMatchObject({ from: "tieline", to: "user", state: "queued", answers: tag });
  expect(notice!.body).toStartWith(`It is not known whether ${tag} arrived at slow: `);
  expect(notice!.body).toContain(`If it did not arrive: tieline retry ${tag} · if it did: tieline cancel ${tag}`);

  await world.killDaemon();
  await world.json(["cancel", tag]);
  await until(async () => (await notices())[0]!.state === "cancelled", "the notice to be withdrawn");
  expect(await notices()).toHaveLength(1);
}, 60_000);
