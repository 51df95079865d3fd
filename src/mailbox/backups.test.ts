import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { TielineError } from "../model/errors.ts";
import { until } from "../testing/until.ts";
import { Backups, backupsIn, type BackupsParts } from "./backups.ts";

const hour = 3_600_000;

describe("backups", () => {
  let root: string;
  let directory: string;
  let now: number;
  let changes: number;
  let fault: Error | null;
  let reports: string[];
  /** How often it was asked whether one is due. */
  let asked: number;
  let backups: Backups;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "tl-backups-"));
    directory = join(root, "backups");
    now = Date.UTC(2026, 10, 16, 6, 0, 0);
    changes = 1;
    fault = null;
    reports = [];
    asked = 0;
    backups = opened();
  });
  afterEach(() => {
    backups[Symbol.dispose]();
    rmSync(root, { recursive: true });
  });

  const opened = (more: Partial<BackupsParts> = {}): Backups =>
    new Backups({
      ...{
        directory,
        everyMs: 24 * hour,
        keep: 3,
        maxBytes: 1e9,
        clock: () => now,
        changes: () => (asked++, changes),
        firstMs: 1,
        againMs: 1,
      },
      report: (context) => void reports.push(context),
      copy: async (to) => {
        if (fault) throw fault;
        writeFileSync(to, "a copy");
        return { messages: 2, altered: [] };
      },
      ...more,
    });
  const askedAgain = (): Promise<void> => {
    const before = asked;
    return until(() => asked > before + 10, "more questions");
  };
  const names = (): string[] => backups.list().map(({ file }) => basename(file));

  test("are made when one is due and something has changed, not before", async () => {
    backups.start();
    await until(() => names().length === 1, "the first backup");
    expect(names()).toEqual(["mailbox-20261116T060000.000Z.db"]);
    now += 25 * hour;
    const quiet = opened({ againMs: 1e6 });
    quiet.start();
    changes++;
    await until(() => names().length === 2, "the second backup");
    quiet[Symbol.dispose]();
    now += 25 * hour;
    // Nothing has changed since.
    await askedAgain();
    expect(names()).toHaveLength(2);
    changes++;
    await until(() => names().length === 3, "the third backup");
  });

  test("of an empty mailbox, or with everyHours 0, are not made automatically", async () => {
    changes = 0;
    backups.start();
    const never = opened({ everyMs: 0, changes: () => 5 });
    never.start();
    await askedAgain();
    expect(existsSync(directory)).toBe(false);
    never[Symbol.dispose]();
  });

  test("are limited in number", async () => {
    for (let day = 0; day < 5; day++, now += 24 * hour) await backups.make();
    expect(names()).toEqual([
      "mailbox-20261120T060000.000Z.db",
      "mailbox-20261119T060000.000Z.db",
      "mailbox-20261118T060000.000Z.db",
    ]);
  });

  test.each([
    [13, 2],
    [5, 1],
  ])("are limited to %d bytes together, and the newest stays", async (maxBytes, left) => {
    const small = opened({ maxBytes });
    for (let day = 0; day < 3; day++, now += 24 * hour) await small.make();
    expect(names()).toHaveLength(left);
    expect(names()[0]).toBe("mailbox-20261118T060000.000Z.db");
  });

  test("into a given file leave the others alone and replace nothing", async () => {
    for (let day = 0; day < 3; day++, now += hour) await backups.make();
    const file = join(root, "mine.db");
    expect(await backups.make(file)).toMatchObject({ file, messages: 2, bytes: 6 });
    expect(names()).toHaveLength(3);
    expect(await backups.make(file).catch((error: unknown) => error)).toMatchObject({ code: "CONFLICT" });
  });

  test("that fail are reported once, shown until the next one succeeds, and tried again", async () => {
    fault = new TielineError("STORE_UNAVAILABLE", "no room", { remedy: "make some" });
    backups.start();
    await until(() => backups.fault !== null, "the fault");
    await askedAgain();
    expect(reports).toEqual(["make a backup"]);
    expect(backups.fault).toMatchObject({ message: "no room", remedy: "make some" });
    fault = null;
    await until(() => backups.fault === null, "the backup");
    expect(names()).toHaveLength(1);
  });

  test("ignore other files, and drafts of a process that was killed are removed", () => {
    mkdirSync(directory, { recursive: true });
    for (const name of [
      "mailbox-20261116T060000.000Z.db",
      "mailbox-20261116T060000.000Z.db.123.new",
      "mailbox-20261116T060000.000Z.db.123.new-journal",
      "notes.txt",
      "mailbox-latest.db",
    ])
      writeFileSync(join(directory, name), "x");
    backups.start();
    expect(readdirSync(directory).toSorted()).toEqual([
      "mailbox-20261116T060000.000Z.db",
      "mailbox-latest.db",
      "notes.txt",
    ]);
    expect(backupsIn(directory)).toEqual([
      { file: join(directory, "mailbox-20261116T060000.000Z.db"), at: Date.UTC(2026, 10, 16, 6, 0, 0), bytes: 1 },
    ]);
    expect(backupsIn(join(root, "missing"))).toEqual([]);
  });
});
