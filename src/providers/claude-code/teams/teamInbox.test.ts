import { expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  rmdirSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dropFolder } from "./dropFolder.ts";
import type { LockPatience } from "./lockedFile.ts";
import { inboxFile, rowId, type TeamInboxRow } from "./teamInbox.ts";
import { nativeMembers } from "./teams.ts";

function folder() {
  const path = mkdtempSync(join(tmpdir(), "tl-inbox-"));
  return {
    path,
    file: join(path, "inboxes", "bob.json"),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
const appendToInbox = (file: string, row: TeamInboxRow, patience?: LockPatience) =>
  inboxFile(file, patience).append(row);
const readInbox = (file: string) => inboxFile(file).rows();
const row = (n: number): TeamInboxRow => ({
  from: "ana",
  text: `text ${n}`,
  timestamp: "2026-11-15T09:00:00.000Z",
  read: false,
  messageId: `id-${n}`,
});

test("appends a row and keeps unknown fields of other rows", async () => {
  using here = folder();
  mkdirSync(join(here.path, "inboxes"));
  const foreign = { from: "lead", text: "x", timestamp: "t", read: false, color: "green", msgV: 1 };
  writeFileSync(here.file, JSON.stringify([foreign]));
  expect(await appendToInbox(here.file, row(1))).toBe("present");
  expect(readInbox(here.file)).toEqual([foreign, row(1)]);
  expect(readdirSync(join(here.path, "inboxes"))).toEqual(["bob.json"]);
});

test("loses nothing with many concurrent writers", async () => {
  using here = folder();
  await Promise.all(Array.from({ length: 20 }, (_, n) => appendToInbox(here.file, row(n), { tries: 400 })));
  expect(
    readInbox(here.file)
      .map(({ messageId }) => messageId)
      .toSorted(),
  ).toEqual(Array.from({ length: 20 }, (_, n) => `id-${n}`).toSorted());
});

test("waits for a lock and removes a stale one", async () => {
  using here = folder();
  mkdirSync(`${here.file}.lock`, { recursive: true });
  const [waits, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const pause = (): Promise<void> => {
    waits.resolve();
    return released.promise;
  };
  const writing = appendToInbox(here.file, row(1), { timers: { pause } });
  await waits.promise;
  expect(existsSync(here.file)).toBe(false);
  rmdirSync(`${here.file}.lock`);
  released.resolve();
  expect(await writing).toBe("present");
  mkdirSync(`${here.file}.lock`);
  utimesSync(`${here.file}.lock`, new Date(0), new Date(0));
  expect(await appendToInbox(here.file, row(2))).toBe("present");
  mkdirSync(`${here.file}.lock`);
  await expect(appendToInbox(here.file, row(3), { tries: 2 })).rejects.toMatchObject({ code: "DELIVERY_FAILED" });
});

test("a broken inbox is left alone", async () => {
  using here = folder();
  mkdirSync(join(here.path, "inboxes"));
  writeFileSync(here.file, "[{");
  await expect(appendToInbox(here.file, row(1))).rejects.toMatchObject({ code: "DELIVERY_FAILED" });
  expect(readFileSync(here.file, "utf8")).toBe("[{");
  expect(existsSync(`${here.file}.lock`)).toBe(false);
});

test("marks one of 10,000 rows", async () => {
  using here = folder();
  mkdirSync(join(here.path, "inboxes"));
  writeFileSync(here.file, JSON.stringify(Array.from({ length: 10_000 }, (_, n) => row(n))));
  expect(await appendToInbox(here.file, row(10_000))).toBe("present");
  await inboxFile(here.file).finish(({ messageId }) => messageId === "id-7", "mark");
  expect(readInbox(here.file)).toHaveLength(10_001);
  expect(readInbox(here.file).filter(({ read }) => read)).toEqual([{ ...row(7), read: true }]);
});

test("finds members of teams, and ignores names that cannot be file names", () => {
  using here = folder();
  const config = (members: object[]) => JSON.stringify({ name: "t1", members });
  mkdirSync(join(here.path, "teams", "t1"), { recursive: true });
  mkdirSync(join(here.path, "teams", "broken"), { recursive: true });
  writeFileSync(
    join(here.path, "teams", "t1", "config.json"),
    config([{ name: "bob", tmuxPaneId: "%1" }, { name: "../../evil" }]),
  );
  writeFileSync(join(here.path, "teams", "broken", "config.json"), "{");
  expect(nativeMembers(here.path)).toEqual([
    {
      team: "t1",
      name: "bob",
      agentId: "bob@t1",
      agentType: null,
      backend: null,
      cwd: null,
      pane: "%1",
      joinedAt: null,
      registered: null,
      inbox: join(here.path, "teams", "t1", "inboxes", "bob.json"),
    },
  ]);
});

test("a row that is gone was taken, unless older ones are still there", async () => {
  using here = folder();
  const inbox = inboxFile(here.file);
  await inbox.append({ ...row(1), timestamp: "2026-11-15T09:00:01.000Z" });
  const ours = { ...row(2), timestamp: "2026-11-15T09:00:02.000Z" };
  await inbox.append(ours);
  expect(inbox.fateOf(ours)).toBe("present");
  writeFileSync(here.file, JSON.stringify([{ ...row(1), timestamp: "2026-11-15T09:00:01.000Z" }]));
  expect(inbox.fateOf(ours)).toBe("lost");
  writeFileSync(here.file, JSON.stringify([{ ...row(3), timestamp: "2026-11-15T09:00:03.000Z" }]));
  expect(inbox.fateOf(ours)).toBe("consumed");
});

test("notices a writer that ignores the lock and restores an older state", async () => {
  using here = folder();
  await appendToInbox(here.file, row(1));
  const old = readFileSync(here.file, "utf8");
  const writing = inboxFile(here.file).append(row(2));
  while (readFileSync(here.file, "utf8") === old) await Promise.resolve();
  writeFileSync(here.file, old);
  expect(await writing).toBe("lost");
});

test("derives an id for rows without one from their content", () => {
  const foreign = { from: "bob", text: "hi", timestamp: "2026-11-15T09:00:00.000Z", read: false };
  const digest = new Bun.CryptoHasher("sha256").update("bob\n2026-11-15T09:00:00.000Z\nhi").digest("hex");
  expect(rowId(foreign)).toBe(`inbox-${digest.slice(0, 16)}`);
  expect(rowId({ ...foreign, read: true, color: "red" })).toBe(rowId(foreign));
  expect([rowId({ ...foreign, msg_id: "a" }), rowId({ ...foreign, messageId: "b" })]).toEqual(["a", "b"]);
});

test("a drop folder keeps the order, and a row that its reader removed was taken", async () => {
  using here = folder();
  const inbox = dropFolder(join(here.path, "inbox", "bob"));
  const second = { ...row(2), timestamp: "2026-11-15T09:00:05.000Z" };
  expect([await inbox.append(second), await inbox.append(row(1))]).toEqual(["present", "present"]);
  expect(inbox.rows()).toEqual([row(1), second]);
  await inbox.finish(({ messageId }) => messageId === "id-1", "remove");
  expect([inbox.fateOf(row(1)), inbox.fateOf(second)]).toEqual(["consumed", "present"]);
  expect(readdirSync(join(here.path, "inbox", "bob"))).toEqual([`msg-${Date.parse(second.timestamp)}-id-2.json`]);
});
