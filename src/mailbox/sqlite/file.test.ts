import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { documentMigrations, sqliteDocuments } from "../../agents/directory/documents/sqlite.ts";
import { agentId } from "../../model/ids.ts";
import { seal } from "../../model/message.ts";
import { markOf, readMark } from "../../os/sqlite/mark.ts";
import { user } from "../../testing/mailboxContract.ts";
import { openMailbox } from "../mailbox.ts";
import type { Mailbox } from "../port.ts";
import { openMailboxFile, type MailboxFile } from "./file.ts";
import { mailboxMigrations } from "./schema.ts";
import { sqliteStore } from "./store.ts";

const migrations = { mailbox: mailboxMigrations, documents: documentMigrations };
const bob = [{ id: agentId("b"), name: "bob" }];
const report = (context: string, fault: unknown): never => {
  throw new Error(context, { cause: fault });
};

describe("the file of a mailbox", () => {
  let dir: string;
  let path: string;
  let sign: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "tl-file-"));
    path = join(dir, "mailbox.db");
    sign = join(dir, "events.db");
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  interface Opened extends AsyncDisposable, MailboxFile {
    readonly mailbox: Mailbox;
  }
  const open = (at = path): Opened => {
    const file = openMailboxFile(at, migrations, { signsOfUse: [sign], report });
    const mailbox = openMailbox(sqliteStore(file.connection));
    return { ...file, mailbox, [Symbol.asyncDispose]: () => mailbox[Symbol.asyncDispose]() };
  };
  const send = (mailbox: Mailbox, body: string) =>
    mailbox.accept(seal({ to: "bob", body }, user, { inReplyTo: null, hops: 1 }), bob);
  const bodies = (mailbox: Mailbox): string[] =>
    mailbox.inbox(bob[0]!.id, { limit: 1_000 }).map(({ message }) => message.body);
  const texts = (count: number): string[] => Array.from({ length: count }, (_, at) => `message ${at}`);

  /** The files of a mailbox as a killed process leaves them, in a place of their own. */
  async function killedAfter(count: number, settled = false): Promise<string> {
    const copy = join(dir, "copy.db");
    await using file = open();
    for (const body of texts(count)) await send(file.mailbox, body);
    if (settled) file.checkpoints.now();
    file.mark.flush();
    for (const suffix of ["", "-wal", "-mark"]) copyFileSync(path + suffix, copy + suffix);
    return copy;
  }
  const content = (at: string): string[] =>
    ["", "-wal", "-mark"].map((suffix) =>
      existsSync(at + suffix) && statSync(at + suffix).size > 0
        ? Bun.hash(readFileSync(at + suffix)).toString(16)
        : "nothing",
    );

  /** Refused twice, with the files as they were. */
  function refused(at: string, why: RegExp): void {
    const before = content(at);
    for (let start = 0; start < 2; start++) {
      expect(() => open(at)).toThrow(
        expect.objectContaining({
          code: "STORE_CORRUPT",
          message: expect.stringMatching(why),
          remedy: expect.stringContaining("tieline doctor --repair"),
        }),
      );
    }
    expect(content(at)).toEqual(before);
  }

  test("is found whole by the next process after a kill, before and after a checkpoint", async () => {
    for (const settled of [false, true]) {
      const copy = await killedAfter(30, settled);
      await using file = open(copy);
      expect(bodies(file.mailbox).slice(-30)).toEqual(texts(30));
    }
  });

  test("is new where nothing has been used", async () => {
    await using file = open();
    expect(bodies(file.mailbox)).toEqual([]);
    expect(statSync(path).size).toBeGreaterThan(4_096);
    expect(statSync(markOf(path)).mode & 0o777).toBe(0o600);
  });

  test("that is missing or empty is refused in a home that has been used", async () => {
    const copy = await killedAfter(3);
    for (const suffix of ["", "-wal"]) rmSync(copy + suffix);
    refused(copy, /copy\.db is damaged: it is missing$/);
    writeFileSync(copy, "");
    refused(copy, /it is empty$/);
    rmSync(copy);
    rmSync(markOf(copy));
    writeFileSync(sign, "an event log");
    refused(copy, /it is missing$/);
  });

  test.each<[string, (log: string) => void]>([
    ["removed", (log) => rmSync(log)],
    ["empty", (log) => truncateSync(log, 0)],
    ["cut off inside its first entry", (log) => truncateSync(log, 2_000)],
    ["altered by a bit in its first entry", (log) => flip(log, 32 + 24 + 100)],
    ["altered by a bit in its header", (log) => flip(log, 9)],
  ])("whose log is %s is refused while it is the only place of something", async (_, damage) => {
    const copy = await killedAfter(30);
    damage(`${copy}-wal`);
    refused(copy, /its last \d+ changes are lost \(it has \d+ of \d+\): .*copy\.db-wal is missing or damaged/);
  });

  test("whose log is cut off in the middle is refused, and says how much is lost", async () => {
    const copy = await killedAfter(30);
    const used = readFileSync(`${copy}-wal`).findLastIndex((byte) => byte !== 0);
    truncateSync(`${copy}-wal`, Math.floor(used / 2));
    refused(copy, /its last \d+ changes are lost/);
  });

  test("needs no log once everything has been checkpointed", async () => {
    const copy = await killedAfter(30, true);
    rmSync(`${copy}-wal`);
    await using file = open(copy);
    expect(bodies(file.mailbox)).toEqual(texts(30));
  });

  test("that is cut off is refused, with a log beside it or without", async () => {
    for (const withLog of [true, false]) {
      const copy = await killedAfter(30, true);
      truncateSync(copy, Math.floor(statSync(copy).size / 2));
      if (!withLog) rmSync(`${copy}-wal`);
      refused(copy, /is damaged: (it is cut off: \d+ pages are missing|database disk image is malformed)/);
    }
  });

  test("that was replaced by an older copy of itself, or by another mailbox, is refused", async () => {
    const older = await killedAfter(3, true);
    copyFileSync(older, join(dir, "older.db"));
    const newer = await killedAfter(3, true);
    for (const suffix of ["", "-wal"]) rmSync(newer + suffix, { force: true });
    copyFileSync(join(dir, "older.db"), newer);
    refused(newer, /its last 3 changes are lost/);

    rmSync(path);
    rmSync(markOf(path));
    rmSync(newer);
    const other = openMailboxFile(join(dir, "other.db"), migrations, { report });
    other.connection[Symbol.dispose]();
    copyFileSync(join(dir, "other.db"), newer);
    refused(newer, /it is another mailbox/);
  });

  test("counts what changes something, documents included, and nothing else", async () => {
    await using file = open();
    const { mailbox, connection } = file;
    const changes = (): number => {
      file.mark.flush();
      return readMark(path)!.changes;
    };
    const before = changes();
    const { deliveries } = await send(mailbox, "one");
    expect(changes()).toBe(before + 1);
    await mailbox.hold(deliveries[0]!.id, { reason: "busy", detail: "working" });
    await mailbox.hold(deliveries[0]!.id, { reason: "busy", detail: "working" });
    expect(changes()).toBe(before + 2);
    sqliteDocuments(connection).put("agent", "a", { name: "ana" });
    expect(changes()).toBe(before + 3);
    sqliteDocuments(connection).remove("agent", "unknown");
    await mailbox.expire(0);
    expect(changes()).toBe(before + 3);
    expect(connection.statement("SELECT changes FROM mailbox").get()).toEqual({ changes: before + 3 });
  });

  test("without a mark, or with one that is behind or damaged, opens and gets one", async () => {
    for (const damage of [
      (mark: string) => rmSync(mark),
      (mark: string) => writeFileSync(mark, "tieline-mailbox x 99 0\n"),
      (mark: string) => copyFileSync(markOf(path), mark),
    ]) {
      rmSync(path, { force: true });
      rmSync(markOf(path), { force: true });
      const copy = await killedAfter(3);
      damage(markOf(copy));
      await using file = open(copy);
      expect(bodies(file.mailbox)).toEqual(texts(3));
      await send(file.mailbox, "one more");
      file.mark.flush();
      expect(readMark(copy)!.changes).toBe(
        (file.connection.statement("SELECT max(id) AS n FROM history").get() as { n: number }).n,
      );
    }
  });
});

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at]! ^= 1;
  writeFileSync(path, bytes);
}
