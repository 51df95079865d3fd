import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openImmutable } from "../../src/mailbox/sqlite/examine.ts";
import { changesIn } from "../../src/mailbox/sqlite/file.ts";
import { readMark } from "../../src/os/sqlite/mark.ts";
import type { InboxView, ReceiptView } from "../../src/api/schema.ts";
import { registerReader } from "../../src/testing/reader.ts";
import { until } from "../../src/testing/until.ts";
import { startWorld, type World } from "../../src/testing/world.ts";

/** What a user meets whose mailbox has lost something while no daemon ran. */
describe("a home", () => {
  let world: World;
  let mailbox: string;
  let reader: { readonly token: string };
  beforeEach(async () => {
    world = await startWorld();
    mailbox = join(world.env["TIELINE_HOME"]!, "mailbox.db");
    await world.json(["daemon", "start"]);
    reader = await registerReader("ana", world.env);
  });
  afterEach(() => world[Symbol.asyncDispose]());

  const send = async (count: number): Promise<string[]> => {
    const tags: string[] = [];
    for (let at = 0; at < count; at++) tags.push((await world.json<ReceiptView>(["send", "ana", `message ${at}`])).tag);
    return tags;
  };
  const kept = async (): Promise<number> => (await world.json<ReceiptView[]>(["log", "--limit", "1000"])).length;

  /** Every command says so, doctor too, and nothing was made in the place of what is lost. */
  async function refused(why: RegExp): Promise<void> {
    for (const args of [["ls"], ["send", "ana", "hello"], ["log"]]) {
      const { code, stdout, stderr } = await world.tieline(args);
      expect([code, stdout, stderr]).toEqual([
        5,
        "",
        expect.stringMatching(/^error STORE_CORRUPT: .*mailbox\.db is damaged: /),
      ]);
      expect(stderr).toMatch(why);
      expect(stderr).toContain("tieline doctor --repair");
      expect(stderr).toContain("tieline restore latest");
    }
    const doctor = await world.tieline(["doctor"]);
    expect([doctor.code, doctor.stdout]).toEqual([5, expect.stringContaining("STORE_CORRUPT")]);
    expect(existsSync(join(world.env["TIELINE_HOME"]!, "daemon.sock"))).toBe(false);
  }

  test.each<[string, RegExp, (path: string) => void]>([
    [
      "mailbox.db removed",
      /it is missing/,
      (path) => ["", "-wal"].forEach((suffix) => rmSync(path + suffix, { force: true })),
    ],
    [
      "mailbox.db of zero bytes",
      /it is empty/,
      (path) => ["", "-wal"].forEach((suffix) => existsSync(path + suffix) && truncateSync(path + suffix, 0)),
    ],
    ["mailbox.db cut in half", /cut off|malformed/, (path) => truncateSync(path, Math.floor(statSync(path).size / 2))],
    ["mailbox.db of another program", /not a database/, (path) => writeFileSync(path, "not a database ".repeat(1_000))],
  ])("with %s after a clean stop is refused", async (_, why, damage) => {
    await send(3);
    await world.tieline(["daemon", "stop"]);
    damage(mailbox);
    await refused(why);
  });

  test.each<[string, (log: string) => void]>([
    ["removed", (log) => rmSync(log)],
    ["cut off", (log) => truncateSync(log, 6_000)],
    ["altered by a bit in its first entry", (log) => flip(log, 32 + 24 + 50)],
  ])(
    "whose log is %s after a kill is refused if that lost anything, and serves everything if not",
    async (_, damage) => {
      await send(30);
      await world.killDaemon();
      damage(`${mailbox}-wal`);
      const { code, stderr } = await world.tieline(["ls"]);
      if (code === 0) expect(await kept()).toBe(30);
      else
        expect([code, stderr]).toEqual([
          5,
          expect.stringMatching(/its last \d+ changes? (is|are) lost \(it has \d+ of \d+\)/),
        ]);
    },
  );

  test("that is left alone for a moment does not need its log", async () => {
    await send(30);
    await until(() => changesWithoutLog(mailbox) === readMark(mailbox)!.changes, "the checkpoint");
    await world.killDaemon();
    rmSync(`${mailbox}-wal`);
    expect(await kept()).toBe(30);
  });

  test(
    "with an altered body does not deliver it: it fails with the reason, its sender gets a bounce, and the others " +
      "arrive",
    async () => {
      const tags: string[] = [];
      for (const body of ["the first", "transfer 100 euros", "the third"])
        tags.push((await world.json<ReceiptView>(["send", "ana", body])).tag);
      await world.tieline(["daemon", "stop"]);
      const bytes = readFileSync(mailbox);
      const at = bytes.indexOf("transfer 100 euros");
      expect(at).toBeGreaterThan(0);
      bytes.write("transfer 900 euros", at);
      writeFileSync(mailbox, bytes);

      const seen = await world.json<InboxView[]>(["inbox"], { env: { TIELINE_TOKEN: reader.token } });
      expect(seen.map(({ state, body }) => [state, body])).toEqual([
        ["claimed", "the first"],
        ["claimed", "the third"],
        ["failed", `(the stored text is damaged, so it is not shown: tieline status ${tags[1]})`],
      ]);
      const history = await world.status(tags[1]!);
      expect(history.deliveries[0]).toMatchObject({
        state: "failed",
        reason: expect.stringContaining("does not match its checksum (STORE_CORRUPT)"),
      });
      const shown = await world.tieline(["show", tags[1]!]);
      expect([shown.code, shown.stderr]).toEqual([
        5,
        expect.stringMatching(new RegExp(`^error STORE_CORRUPT: the stored text of ${tags[1]}`)),
      ]);
      const bounce = (await world.json<InboxView[]>(["inbox"])).find(({ answers }) => answers === tags[1]);
      expect(bounce).toMatchObject({ kind: "bounce", body: expect.stringContaining("send it again") });
      expect((await world.tieline(["export"])).stdout).toContain('"damaged":true');
    },
  );
});

/** How many changes the file holds by itself; null while it is being written. */
function changesWithoutLog(path: string): number | null {
  const database = openImmutable(path);
  try {
    return database.query<{ changes: number }, []>(changesIn).get()!.changes;
  } catch {
    return null;
  } finally {
    database.close();
  }
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at]! ^= 1;
  writeFileSync(path, bytes);
}
