import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyistCommand } from "../../os/install.ts";
import { agentId } from "../../model/ids.ts";
import { seal } from "../../model/message.ts";
import { mailboxFileMigrations } from "../../testing/damagedMailbox.ts";
import { user } from "../../testing/mailboxContract.ts";
import { openMailbox } from "../mailbox.ts";
import type { Mailbox } from "../port.ts";
import { examine } from "./examine.ts";
import { openMailboxFile, type MailboxFile } from "./file.ts";
import { Snapshots, type SnapshotsParts } from "./snapshots.ts";
import { sqliteStore } from "./store.ts";

describe("a snapshot of an open mailbox", () => {
  let dir: string;
  let path: string;
  let directory: string;
  let file: MailboxFile;
  let mailbox: Mailbox;
  let snapshots: Snapshots;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "tl-snapshots-"));
    path = join(dir, "mailbox.db");
    directory = join(dir, "backups");
    mkdirSync(directory);
    file = openMailboxFile(path, mailboxFileMigrations, {
      report: (context, fault) => {
        throw new Error(context, { cause: fault });
      },
    });
    mailbox = openMailbox(sqliteStore(file.connection));
    snapshots = taking();
  });
  afterEach(async () => {
    await snapshots[Symbol.asyncDispose]();
    await mailbox[Symbol.asyncDispose]();
    rmSync(dir, { recursive: true });
  });

  const taking = (more: Partial<SnapshotsParts> = {}): Snapshots =>
    new Snapshots({
      path,
      checkpoints: file.checkpoints,
      command: copyistCommand,
      env: { PATH: process.env["PATH"]!, BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" },
      ...more,
    });
  const send = (body: string) =>
    mailbox.accept(seal({ to: "bob", body }, user, { inReplyTo: null, hops: 1 }), [{ id: agentId("b"), name: "bob" }]);

  test("holds what was accepted before it, is whole, private, and alone in its directory", async () => {
    for (let at = 0; at < 50; at++) await send(`message ${at}`);
    const to = join(directory, "copy.db");
    expect(await snapshots.take(to)).toMatchObject({ messages: 50, open: 50, damage: null, altered: [] });
    expect(examine(to)).toMatchObject({ id: mailbox.id, messages: 50 });
    expect(statSync(to).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual(["copy.db"]);
  });

  test("is consistent while much is written, and the lock stays with this process", async () => {
    for (let at = 0; at < 200; at++) await send(`${"x".repeat(5_000)} ${at}`);
    let isDone = false;
    let sent = 200;
    const writing = (async () => {
      while (!isDone) {
        await Promise.all(Array.from({ length: 20 }, (_, at) => send(`${"y".repeat(3_000)} ${at}`)));
        sent += 20;
      }
    })();
    const found = await snapshots.take(join(directory, "copy.db"));
    isDone = true;
    await writing;
    expect(found).toMatchObject({ messages: 200, damage: null, altered: [] });
    expect(sent).toBeGreaterThan(200);
    expect(mailbox.log({ limit: 100_000 })).toHaveLength(sent);
    const script =
      `import { Database } from "bun:sqlite"; try { new Database(${JSON.stringify(path)}, { readonly: true ` +
      `}).query("SELECT 1 FROM messages").get(); console.log("read"); } catch (error) { ` +
      "console.log(error.code); }";
    expect(Bun.spawnSync([process.execPath, "-e", script]).stdout.toString().trim()).toBe("SQLITE_BUSY");
  });

  test("of a damaged mailbox is refused and not kept", async () => {
    for (let at = 0; at < 300; at++) await send(`message ${at}`);
    file.checkpoints.now();
    // As a disk does it, behind the back of this process.
    const script =
      `import { openSync, writeSync } from "node:fs"; writeSync(openSync(${JSON.stringify(path)}, "r+"), new ` +
      "Uint8Array(4096), 0, 4096, 20 * 4096);";
    Bun.spawnSync([process.execPath, "-e", script]);
    expect(await snapshots.take(join(directory, "copy.db")).catch((error: unknown) => error)).toMatchObject({
      code: "STORE_CORRUPT",
    });
    expect(await snapshots.check().catch((error: unknown) => error)).toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringContaining(path),
    });
    expect(readdirSync(directory)).toEqual([]);
  });

  test("names altered messages and is made all the same", async () => {
    const { message } = await send("transfer 100 euros");
    await send("another");
    file.checkpoints.now();
    const at = readFileSync(path).indexOf("transfer 100");
    const script =
      `import { openSync, writeSync } from "node:fs"; writeSync(openSync(${JSON.stringify(path)}, "r+"), ` +
      `"transfer 900", ${at});`;
    Bun.spawnSync([process.execPath, "-e", script]);
    expect(await snapshots.take(join(directory, "copy.db"))).toMatchObject({
      messages: 2,
      damage: null,
      altered: [message.tag],
    });
  });

  test("needs room, and says how much", async () => {
    const tight = taking({ freeBytes: () => 1_000_000 });
    expect(await tight.take(join(directory, "copy.db")).catch((error: unknown) => error)).toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringMatching(/needs \d+ MB in .*backups, but only 1 MB are free/),
    });
    expect(readdirSync(directory)).toEqual([]);
  });

  test("takes no longer than its deadline, and not into a directory that does not exist", async () => {
    await send("one");
    const slow = taking({ command: [process.execPath, "-e", "setInterval(() => undefined, 1_000)"], deadlineMs: 50 });
    expect(await slow.take(join(directory, "copy.db")).catch((error: unknown) => error)).toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("SIGKILL"),
    });
    expect(await snapshots.take(join(dir, "missing", "copy.db")).catch((error: unknown) => error)).toMatchObject({
      code: "TARGET_NOT_FOUND",
    });
    expect(readdirSync(directory)).toEqual([]);
  });

  test("that is cut short leaves nothing behind, and checkpoints continue", async () => {
    await send("one");
    const stuck = taking({ command: [process.execPath, "-e", "setInterval(() => undefined, 1_000)"] });
    const taken = stuck.take(join(directory, "copy.db")).catch((error: unknown) => error);
    writeFileSync(join(directory, "unrelated"), "");
    await stuck[Symbol.asyncDispose]();
    expect(await taken).toMatchObject({ code: expect.stringMatching(/STORE_UNAVAILABLE|DAEMON_UNAVAILABLE/) });
    expect(readdirSync(directory)).toEqual(["unrelated"]);
    await send("two");
    file.checkpoints.now();
    expect(await snapshots.check()).toMatchObject({ messages: 2 });
  });
});
