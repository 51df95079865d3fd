import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyistCommand } from "../../src/os/install.ts";
import { Backups } from "../../src/mailbox/backups.ts";
import { openMailbox } from "../../src/mailbox/mailbox.ts";
import type { Mailbox } from "../../src/mailbox/port.ts";
import { examine } from "../../src/mailbox/sqlite/examine.ts";
import { openMailboxFile, type MailboxFile } from "../../src/mailbox/sqlite/file.ts";
import { Snapshots } from "../../src/mailbox/sqlite/snapshots.ts";
import { sqliteStore } from "../../src/mailbox/sqlite/store.ts";
import { agentId } from "../../src/model/ids.ts";
import { seal } from "../../src/model/message.ts";
import { mailboxFileMigrations } from "../../src/testing/damagedMailbox.ts";
import { user } from "../../src/testing/mailboxContract.ts";
import { describeUnless } from "../../src/testing/needing.ts";
import { lackOfMounts, smallDisk, type SmallDisk } from "../../src/testing/smallDisk.ts";
import { until } from "../../src/testing/until.ts";

/**
 * The backups are on a disk of their own, and the space check is off, so that the disk fills up in the middle of a
 * copy.
 */
describeUnless(lackOfMounts())("an automatic backup to a full disk", () => {
  let disk: SmallDisk;
  let dir: string;
  let file: MailboxFile;
  let mailbox: Mailbox;
  let snapshots: Snapshots;
  let backups: Backups;
  let reports: string[];
  beforeEach(async () => {
    disk = smallDisk(4 * 1024 * 1024);
    dir = mkdtempSync(join(tmpdir(), "tl-backup-"));
    reports = [];
    const report = (context: string, fault: unknown): void => void reports.push(`${context}: ${String(fault)}`);
    file = openMailboxFile(join(dir, "mailbox.db"), mailboxFileMigrations, { report });
    mailbox = openMailbox(sqliteStore(file.connection));
    const env = { PATH: process.env["PATH"]!, BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" };
    snapshots = new Snapshots({
      path: join(dir, "mailbox.db"),
      checkpoints: file.checkpoints,
      command: copyistCommand,
      env,
      freeBytes: () => 1e12,
    });
    backups = new Backups({
      ...{ directory: join(disk.dir, "backups"), everyMs: 1, keep: 3, maxBytes: 1e9, report, firstMs: 1, againMs: 1 },
      changes: () => file.changes(),
      copy: (to) => snapshots.take(to),
    });
    for (let at = 0; at < 30; at++) await send(`${"x".repeat(30_000)} ${at}`);
  });
  afterEach(async () => {
    backups[Symbol.dispose]();
    await snapshots[Symbol.asyncDispose]();
    await mailbox[Symbol.asyncDispose]();
    disk[Symbol.dispose]();
    rmSync(dir, { recursive: true });
  });

  const send = (body: string) =>
    mailbox.accept(seal({ to: "bob", body }, user, { inReplyTo: null, hops: 1 }), [{ id: agentId("b"), name: "bob" }]);
  const names = (): string[] => readdirSync(join(disk.dir, "backups"));

  test(
    "fails alone: it is reported, the earlier backup stays whole, mail is accepted, and the next backup " + "succeeds",
    async () => {
      const first = await backups.make();
      expect(statSync(first.file).mode & 0o777).toBe(0o600);
      const content = readFileSync(first.file);
      await send("after the first backup");
      disk.fill();
      backups.start();
      await until(() => backups.fault !== null, "the failed backup");
      expect(backups.fault).toMatchObject({
        code: "STORE_UNAVAILABLE",
        message: expect.stringContaining("disk is full"),
      });
      expect(reports).toEqual([expect.stringMatching(/^make a backup: .*disk is full/)]);
      expect(readFileSync(first.file).equals(content)).toBe(true);
      await send("while no backup can be made");
      await until(() => names().length === 1, "no draft to be left");

      disk.empty();
      await until(() => backups.fault === null, "the next backup");
      const [newest] = backups.list();
      expect(examine(newest!.file)).toMatchObject({ messages: 32, damage: null, altered: [] });
    },
  );
});
