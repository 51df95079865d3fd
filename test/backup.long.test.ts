import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ReceiptView, HistoryView } from "../src/api/schema.ts";
import { aMomentWithin } from "../src/testing/moments.ts";
import { pastesOf, promptAgentPath, submissions } from "../src/testing/promptAgent.ts";
import { until } from "../src/testing/until.ts";
import { startWorld } from "../src/testing/world.ts";

/**
 * Backups, kills and restores while messages are delivered to a pane. At any moment, nothing may be submitted twice, no
 * message in the backup is lost, and what the restored mailbox cannot know is uncertain until the user decides.
 */
const rounds = Number(process.env["TIELINE_RESTORES"] ?? 8);

test(`nothing is submitted twice over ${rounds} backups, kills and restores`, async () => {
  await using world = await startWorld({ config: { delivery: { quietMs: 20, timeoutMs: 10_000 } } });
  const log = join(world.dir, "submitted.jsonl");
  const pane = await world.pane([process.execPath, promptAgentPath, log]);
  await until(() => existsSync(pastesOf(log)), "the program");
  await world.json(["adopt", pane, "--name", "ana"]);
  const tagsIn = (): string[] =>
    submissions(log).map((text) => /^\[(MSG_USER_[0-9a-f]{8}) from user\]\n/.exec(text)?.[1] ?? `not ours: ${text}`);

  let uncertainInAll = 0;
  let foundInAll = 0;
  let sentByUser = 0;
  for (let round = 0; round < rounds; round++) {
    const send = async (name: string): Promise<string | null> => {
      const { code, stdout } = await world.tieline(["send", "--json", "ana", `round ${round}, ${name}`]);
      return code === 0 ? (JSON.parse(stdout) as ReceiptView).tag : null;
    };
    const before = (await Promise.all(Array.from({ length: 4 }, (_, at) => send(`before ${at}`)))).filter(
      (tag) => tag !== null,
    );
    const backup = world.tieline(["backup", "--json", join(world.dir, `backup-${round}.db`)]);
    const during = Promise.all(Array.from({ length: 3 }, (_, at) => send(`during ${at}`)));
    const made = await backup;
    expect([made.code, made.stderr]).toEqual([0, ""]);
    await during;
    if (round % 2 === 0) {
      await aMomentWithin(80);
      await world.killDaemon().catch(quietly);
    } else {
      await until(() => before.every((tag) => tagsIn().includes(tag)), "the mail of this round", 60_000);
    }

    const restored = await world.json<{ uncertain: string[]; missing: string[] | null }>([
      "restore",
      join(world.dir, `backup-${round}.db`),
      "--yes",
    ]);
    uncertainInAll += restored.uncertain.length;
    for (const tag of before) expect((await world.status(tag)).tag).toBe(tag);
    await until(
      async () => (await Promise.all(restored.uncertain.map((tag) => world.status(tag)))).every(isLookedAt),
      "a look at what is uncertain",
      60_000,
    );
    for (const tag of restored.uncertain) {
      const { state } = (await world.status(tag)).deliveries[0]!;
      if (state !== "uncertain") foundInAll++;
      // The user looks and decides.
      else await world.json([tagsIn().includes(tag) ? "cancel" : "retry", tag]);
    }
    const last = await send("after");
    const isHeld = async (): Promise<boolean> =>
      (await world.status(last!)).deliveries[0]!.reason?.includes("unsent") ?? false;
    await until(async () => tagsIn().includes(last!) || (await isHeld()), `${last} after the restore`, 60_000);
    if (!tagsIn().includes(last!)) {
      // A later message, which the backup does not hold, was pasted when the daemon was killed. The user sends it.
      sentByUser++;
      await world.tmux("send-keys", "-t", pane, "Enter");
      await until(() => tagsIn().includes(last!), `${last} after the message before it was sent`, 60_000);
    }
  }
  const submitted = tagsIn();
  console.log(
    `${rounds} restores: ${submitted.length} submitted, ${uncertainInAll} were uncertain, ${foundInAll} of ` +
      `them found by looking, ${sentByUser} later ones left unsent in the pane`,
  );
  expect(submitted.toSorted()).toEqual([...new Set(submitted)].toSorted());
  expect(uncertainInAll).toBeGreaterThan(0);
}, 900_000);

/** Looking leaves it uncertain or settles it. The next send shows that the agent is served afterwards. */
const isLookedAt = ({ deliveries }: HistoryView): boolean => deliveries.every(({ state }) => state !== "claimed");

const quietly = (error: Error): void => {
  if (!error.message.includes("no daemon runs")) throw error;
};
