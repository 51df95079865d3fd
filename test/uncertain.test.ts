import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { InboxView, ReceiptView } from "../src/api/schema.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

let world: World;
beforeAll(async () => {
  const yaml = "team: web\nobjects: { slow: { module: slow.ts, timeoutMs: 200 } }\n";
  world = await startWorld({
    files: { "tieline.yaml": yaml, "slow.ts": "export const onMessage = () => new Promise(() => {});\n" },
  });
});
afterAll(() => world[Symbol.asyncDispose]());

const notices = async (): Promise<InboxView[]> =>
  (await world.json<InboxView[]>(["inbox", "--peek"])).filter(({ kind }) => kind === "bounce");
const about = async (tag: string): Promise<InboxView[]> => (await notices()).filter(({ answers }) => answers === tag);

test(
  "the sender of a message that stays uncertain gets a notice, once, and it is withdrawn when the doubt is " +
    "settled",
  async () => {
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
  },
  60_000,
);

test("an uncertain delivery is reported once, also when a repair changes its detail", async () => {
  const { tag } = await world.json<ReceiptView>(["send", "slow", "once"]);
  await until(async () => (await about(tag)).length > 0, "the notice");
  await world.json(["daemon", "stop"]);
  const file = join(world.env["TIELINE_HOME"]!, "mailbox.db");
  const older = readFileSync(file);
  await world.json(["send", "slow", "later"]);
  await world.json(["daemon", "stop"]);
  rmSync(`${file}-wal`, { force: true });
  writeFileSync(file, older);
  const repaired = await world.json<{ uncertain: string[] }>(["doctor", "--repair"]);
  expect(repaired.uncertain).toEqual([tag]);
  expect(await about(tag)).toMatchObject([{ state: "queued" }]);
  const { tag: next } = await world.json<ReceiptView>(["send", "slow", "another"]);
  await until(async () => (await about(next)).length > 0, "the notice about a later message");
  expect(await about(tag)).toHaveLength(1);
  expect(readFileSync(join(world.env["TIELINE_HOME"]!, "daemon.log"), "utf8")).not.toContain("was used for");

  await world.json(["inbox"]);
  expect(await world.json<InboxView[]>(["inbox", "--pending"])).toEqual([]);
  for (const one of [tag, next]) await world.json(["cancel", one]);
}, 60_000);
