import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { homeOf, type Home } from "../client/home.ts";
import { userId } from "../model/agent.ts";
import { agentId } from "../model/ids.ts";
import { seal } from "../model/message.ts";
import { filledMailbox, openMailboxAt } from "../testing/damagedMailbox.ts";
import { backupNamed, problemOf, refuseWhileServed, repair, restorable, restore } from "./offline.ts";

const now = 1_900_000_000_000;
const damagedMailbox = new URL("../testing/damagedMailbox.ts", import.meta.url).pathname;

describe("a home that no daemon serves", () => {
  let home: Home;
  let backup: string;
  beforeEach(async () => {
    home = homeOf({ TIELINE_HOME: mkdtempSync(join(tmpdir(), "tl-offline-")) });
    mkdirSync(home.backups);
    await filledMailbox(home.mailbox, 40);
    writeFileSync(home.userToken, "x");
    backup = join(home.backups, "mailbox-20261116T060000.000Z.db");
    copyFileSync(home.mailbox, backup);
  });
  afterEach(() => rmSync(home.root, { recursive: true }));

  const refusal = (work: () => unknown): unknown => {
    try {
      return work();
    } catch (thrown) {
      return thrown;
    }
  };
  const alter = (path: string, sql: string): void => {
    using database = new Database(path);
    database.run(sql);
  };
  const asideNames = (): string[] =>
    readdirSync(home.root).filter((name) => /mailbox\.db\.(replaced|damaged)/.test(name) && !/-(wal|mark)$/.test(name));

  describe("restores a backup", () => {
    test("with open deliveries uncertain, new numbers, and the old database kept", async () => {
      const late: string[] = [];
      {
        await using opened = openMailboxAt(home.mailbox);
        const [first] = opened.mailbox.log({ limit: 1_000 });
        const copy = {
          ...first!.message,
          id: "01ffffff-0000-7000-8000-000000000001" as never,
          tag: "MSG_ANA_0000late" as never,
        };
        await opened.mailbox.accept(copy, [{ id: "b" as never, name: "reader-b" }]);
        late.push(copy.tag);
        const [waiting] = opened.mailbox.deliveriesIn(["queued"]);
        const claimed = await opened.mailbox.claim(waiting!.id, { lane: "pull", now, transport: "pull" });
        await opened.mailbox.settle(
          claimed!.id,
          { kind: "delivered", proof: "tool" },
          { transport: "pull", authority: "peer" },
        );
      }
      const open = restorable(home, backup).open;
      const { replaced, uncertain, ...done } = await restore(home, backup, now);
      expect(done).toMatchObject({ file: backup, messages: 40, missing: late });
      expect(uncertain).toHaveLength(open);
      expect(replaced).toBe(`${home.mailbox}.replaced-20300317T174640.000Z`);
      expect(existsSync(replaced!)).toBe(true);
      await using restored = openMailboxAt(home.mailbox);
      const states = restored.mailbox.deliveriesIn(["queued", "claimed", "uncertain"], 1_000);
      expect(new Set(states.map(({ state }) => state))).toEqual(new Set(["uncertain"]));
      expect(
        states.filter(
          ({ detail }) => detail === "it was open when the backup was made; in the replaced mailbox it was seen",
        ),
      ).toHaveLength(1);
      const before = restored.mailbox.deliveriesIn(["uncertain"], 1_000).at(-1)!.id;
      const fresh = await restored.mailbox.accept(
        {
          ...restored.mailbox.log({ limit: 1 })[0]!.message,
          id: "01ffffff-0000-7000-8000-000000000002" as never,
          tag: "MSG_ANA_000fresh" as never,
        },
        [{ id: "b" as never, name: "reader-b" }],
      );
      expect(fresh.deliveries[0]!.id).toBeGreaterThan(before + 1);
    });

    test("over a mailbox that is missing or damaged, about which it says that it cannot tell", async () => {
      writeFileSync(home.mailbox, "not a database ".repeat(1_000));
      expect(await restore(home, backup, now)).toMatchObject({
        messages: 40,
        missing: null,
        replaced: expect.any(String),
      });
      rmSync(home.mailbox);
      expect(await restore(home, backup, now + 1)).toMatchObject({ messages: 40, missing: null, replaced: null });
      expect(problemOf(home)).toBeNull();
    });

    test("twice, as after a kill in the middle", async () => {
      await restore(home, backup, now);
      await restore(home, backup, now + 1_000);
      expect(asideNames()).toHaveLength(2);
      await using opened = openMailboxAt(home.mailbox);
      expect(opened.mailbox.log({ limit: 1_000 })).toHaveLength(40);
    });

    test("not from a newer version, a damaged file, another mailbox, or something else; nothing changes", async () => {
      const before = readFileSync(home.mailbox);
      const newer = join(home.root, "newer.db");
      copyFileSync(backup, newer);
      alter(newer, "UPDATE migrations SET version = 99 WHERE component = 'mailbox'");
      expect(refusal(() => restorable(home, newer))).toMatchObject({
        code: "STORE_UNAVAILABLE",
        message: expect.stringContaining("written by a newer Tieline (mailbox schema 99)"),
      });

      const damaged = join(home.root, "damaged.db");
      copyFileSync(backup, damaged);
      const bytes = readFileSync(damaged);
      bytes.fill(0, 12 * 4096, 16 * 4096);
      writeFileSync(damaged, bytes);
      expect(refusal(() => restorable(home, damaged))).toMatchObject({
        code: "STORE_CORRUPT",
        remedy: `nothing was changed; another backup is ${backup}`,
      });

      const other = join(home.root, "other.db");
      await filledMailbox(other, 5);
      expect(refusal(() => restorable(home, other))).toMatchObject({
        code: "CONFLICT",
        message: expect.stringContaining("is a backup of mailbox"),
      });

      for (const [name, content] of [
        ["text", "hello ".repeat(1_000)],
        ["empty", ""],
      ] as const) {
        writeFileSync(join(home.root, name), content);
        expect(refusal(() => restorable(home, join(home.root, name)))).toMatchObject({ code: "STORE_CORRUPT" });
      }
      const foreign = join(home.root, "foreign.db");
      alter(foreign, "CREATE TABLE messages (x)");
      expect(refusal(() => restorable(home, foreign))).toMatchObject({
        code: "STORE_CORRUPT",
        message: expect.stringContaining("it is no mailbox of Tieline"),
      });
      expect(readFileSync(home.mailbox).equals(before)).toBe(true);
      expect(asideNames()).toEqual([]);
    });

    test("of the newest name, or says that there is none", () => {
      copyFileSync(backup, join(home.backups, "mailbox-20261117T060000.000Z.db"));
      expect(backupNamed(home, "latest")).toEndWith("mailbox-20261117T060000.000Z.db");
      expect(backupNamed(home, backup)).toBe(backup);
      rmSync(home.backups, { recursive: true });
      expect(refusal(() => backupNamed(home, "latest"))).toMatchObject({ code: "TARGET_NOT_FOUND" });
      expect(refusal(() => backupNamed(home, "/nowhere/x.db"))).toMatchObject({ code: "TARGET_NOT_FOUND" });
    });

    test("of an older version, brought up to date", async () => {
      const dir = mkdtempSync(join(tmpdir(), "tl-old-"));
      Bun.spawnSync(["tar", "-xzf", new URL("../../fixtures/homes/0.1.0.tar.gz", import.meta.url).pathname, "-C", dir]);
      const old = join(dir, "tieline-home-fixture/home/mailbox.db");
      {
        using database = new Database(old);
        database.query("PRAGMA wal_checkpoint(TRUNCATE)").get();
      }
      const fresh = homeOf({ TIELINE_HOME: join(dir, "fresh") });
      mkdirSync(fresh.root);
      // 12 queued, 1 claimed and 1 uncertain deliveries, some of the same message.
      expect((await restore(fresh, old, now)).uncertain.length).toBeGreaterThan(5);
      await using opened = openMailboxAt(fresh.mailbox);
      expect(opened.mailbox.log({ limit: 100 })).toHaveLength(25);
      const kept = opened.mailbox.deliveriesIn(["queued"]);
      expect(new Set(kept.map(({ agentName }) => agentName))).toEqual(new Set(["user"]));
      expect(opened.mailbox.deliveriesIn(["uncertain"])).toHaveLength(14 - kept.length);
      rmSync(dir, { recursive: true });
    });
  });

  describe("is repaired", () => {
    test("not when nothing is wrong", async () => {
      expect(await repair(home, now)).toBeNull();
      expect(asideNames()).toEqual([]);
    });

    test("after the loss of its last changes, with what is there, and every open delivery uncertain", async () => {
      const older = readFileSync(home.mailbox);
      {
        await using opened = openMailboxAt(home.mailbox);
        await opened.mailbox.cancel(opened.mailbox.deliveriesIn(["queued"])[0]!.messageId);
      }
      writeFileSync(home.mailbox, older);
      expect(problemOf(home)).toMatchObject({
        code: "STORE_CORRUPT",
        message: expect.stringContaining("its last change is lost"),
      });
      const { kept, ...done } = (await repair(home, now))!;
      expect(done).toMatchObject({ messages: 40, deliveries: 40, documents: 20, damaged: [] });
      expect(readFileSync(kept!).equals(older)).toBe(true);
      expect(problemOf(home)).toBeNull();
      await using opened = openMailboxAt(home.mailbox);
      expect(opened.mailbox.deliveriesIn(["queued", "claimed"])).toEqual([]);
      expect(opened.mailbox.deliveriesIn(["uncertain"], 1_000).length).toBeGreaterThan(20);
    });

    test("with the user's own mail still waiting", async () => {
      const user = { id: userId, name: "user" };
      const sdk = { id: agentId("sdk"), name: "sdk" };
      const ana = { id: agentId("a"), name: "ana", team: "web", knownBy: "token" } as const;
      let id: string;
      {
        await using opened = openMailboxAt(home.mailbox);
        opened.documents.put("agent", sdk.id, { endpoints: [{ transport: "pull", locator: {} }] });
        opened.documents.put("agent", "both", {
          endpoints: [
            { transport: "pull", locator: {} },
            { transport: "tmux", locator: {} },
          ],
        });
        const recipients = [user, sdk, { id: agentId("both"), name: "both" }];
        const { message } = await opened.mailbox.accept(
          seal({ to: "@all", body: "hello" }, ana, { inReplyTo: null, hops: 1 }),
          recipients,
        );
        id = message.id;
      }
      const states = async (): Promise<string[]> => {
        await using opened = openMailboxAt(home.mailbox);
        return opened.mailbox.receipt(id)!.deliveries.map(({ state }) => state);
      };
      const bytes = readFileSync(home.mailbox);
      {
        await using opened = openMailboxAt(home.mailbox);
        await opened.mailbox.cancel(opened.mailbox.deliveriesIn(["queued"])[0]!.messageId);
      }
      writeFileSync(home.mailbox, bytes);
      await repair(home, now);
      expect(await states()).toEqual(["queued", "uncertain", "uncertain"]);
      const backup = join(home.root, "fetched.db");
      copyFileSync(home.mailbox, backup);
      {
        await using opened = openMailboxAt(home.mailbox);
        const [first] = opened.mailbox.receipt(id)!.deliveries;
        await opened.mailbox.claim(first!.id, { lane: "pull", now, transport: "pull" });
        await opened.mailbox.settle(
          first!.id,
          { kind: "delivered", proof: "tool" },
          { transport: "pull", authority: "peer" },
        );
      }
      await restore(home, backup, now + 1);
      expect(await states()).toEqual(["uncertain", "uncertain", "uncertain"]);
    });

    test("page by page when its pages are damaged, and the damaged file is kept as it was", async () => {
      const bytes = readFileSync(home.mailbox);
      bytes.fill(0xee, 4096 * 3, 4096 * 4);
      bytes.fill(0, 0, 100);
      writeFileSync(home.mailbox, bytes);
      const { id } = restorable({ ...home, mailbox: join(home.root, "none") }, backup);
      const { kept, ...done } = (await repair(home, now))!;
      expect(done).toMatchObject({ messages: 40, id });
      expect(readFileSync(kept!).equals(bytes)).toBe(true);
      expect(problemOf(home)).toBeNull();
    });

    test("by an empty mailbox only where nothing can be read and there is no backup either", async () => {
      writeFileSync(home.mailbox, "");
      const before = readdirSync(home.root);
      expect(await repair(home, now).catch((error: unknown) => error)).toMatchObject({
        code: "STORE_CORRUPT",
        remedy: expect.stringContaining("tieline restore latest"),
      });
      expect(readdirSync(home.root).toSorted()).toEqual(before.toSorted());
      rmSync(home.backups, { recursive: true });
      expect(await repair(home, now)).toMatchObject({ messages: 0, problem: expect.stringContaining("it is empty") });
      await using opened = openMailboxAt(home.mailbox);
      expect(opened.mailbox.log()).toEqual([]);
    });
  });

  test("is distinguished from one that is served", async () => {
    refuseWhileServed(home);
    const script = `
      const { openMailboxAt } = await import(${JSON.stringify(damagedMailbox)});
      openMailboxAt(${JSON.stringify(home.mailbox)});
      console.log("open");
      setInterval(() => undefined, 1_000);`;
    const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
    await child.stdout.getReader().read();
    expect(refusal(() => refuseWhileServed(home))).toMatchObject({ name: "DatabaseTaken" });
    child.kill("SIGKILL");
    await child.exited;
    refuseWhileServed(home);
  });
});
