import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { closeSync, copyFileSync, mkdtempSync, openSync, rmSync, statSync, truncateSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentId } from "../../model/ids.ts";
import { seal, type Message } from "../../model/message.ts";
import { connect } from "../../os/sqlite/connection.ts";
import { salvagedRows } from "../../os/sqlite/salvage.ts";
import {
  damagedCopy,
  damages,
  filledMailbox,
  mailboxFileMigrations,
  openMailboxAt,
  readers,
  seeded,
} from "../../testing/damagedMailbox.ts";
import { hourMs, measures } from "../statistics.ts";
import { rebuild, type Rebuilt } from "./rebuild.ts";

describe("rebuilding a mailbox from its pages", () => {
  let dir: string;
  let original: string;
  let sent: ReadonlyMap<string, string>;
  let rebuilt = 0;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "tl-rebuild-"));
    original = join(dir, "original.db");
    sent = await filledMailbox(original, 200);
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  const rebuildOf = (damaged: string): { readonly path: string; readonly found: Rebuilt } => {
    const path = join(dir, `rebuilt-${++rebuilt}.db`);
    const into = connect(path, mailboxFileMigrations);
    const found = rebuild(damaged, into);
    into[Symbol.dispose]();
    return { path, found };
  };
  const copyOf = (name: string): string => {
    const copy = join(dir, name);
    copyFileSync(original, copy);
    return copy;
  };

  test("gives back everything of a file that is not damaged", async () => {
    const { path, found } = rebuildOf(original);
    expect(found).toMatchObject({
      messages: 200,
      deliveries: 200,
      documents: 20,
      damaged: [],
      withoutDelivery: [],
      withoutMessage: [],
      lostDeliveries: 0,
      id: expect.stringMatching(/^[0-9a-f]{12}$/),
    });
    await using before = openMailboxAt(original);
    await using after = openMailboxAt(path);
    expect(after.mailbox.log({ limit: 1_000 }).map(({ message }) => message)).toEqual(
      before.mailbox.log({ limit: 1_000 }).map(({ message }) => message),
    );
    expect(after.documents.all("agent")).toEqual(before.documents.all("agent"));
    for (const measure of measures) {
      const query = { measure, size: hourMs, since: 0, until: Number.MAX_SAFE_INTEGER, step: null } as const;
      expect(after.mailbox.tallies(query)).toEqual(before.mailbox.tallies(query));
    }
    for (const { message } of before.mailbox.log({ limit: 50 })) {
      const [then, now] = [before.mailbox.history(message.id)!, after.mailbox.history(message.id)!];
      expect([...now.steps.values()]).toEqual([...then.steps.values()]);
      // A claim has no process behind it any more.
      expect(now.deliveries.map(({ state }) => state)).toEqual(
        then.deliveries.map(({ state }) => (state === "claimed" ? "uncertain" : state)),
      );
    }
  });

  test.each(damages)("loses only what was on the damaged page, and accounts for it: %s", (damage) => {
    for (let seed = 1; seed <= 5; seed++) {
      const { path, found } = rebuildOf(damagedCopy(original, join(dir, `${damage} ${seed}`), damage, seeded(seed)));
      // The largest page of messages holds a fifth of them, the largest of deliveries a third.
      expect(found.messages).toBeGreaterThan(150);
      expect(found.deliveries).toBeGreaterThan(120);
      // Each message had one delivery, on another page.
      expect([damage, seed, found.messages + found.withoutMessage.length]).toEqual([damage, seed, 200]);
      expect([damage, seed, found.deliveries + found.withoutMessage.length + found.withoutDelivery.length]).toEqual([
        damage,
        seed,
        200,
      ]);
      using connection = connect(path, mailboxFileMigrations);
      const rows = connection.statement("SELECT tag, body FROM messages").all() as { tag: string; body: string }[];
      const wrong = rows.filter(({ tag, body }) => sent.get(tag) !== body).map(({ tag }) => tag);
      expect([damage, seed, wrong]).toEqual([damage, seed, found.damaged.filter((tag) => wrong.includes(tag))]);
    }
  });

  test("does without the first page, which tells SQLite where everything is", () => {
    const copy = copyOf("headless.db");
    const fd = openSync(copy, "r+");
    writeSync(fd, Buffer.alloc(4096, 0xa5), 0, 4096, 0);
    closeSync(fd);
    expect(rebuildOf(copy).found).toMatchObject({ messages: 200, deliveries: 200, withoutMessage: [] });
  });

  test("takes what is left of a file that was cut off, and names what misses its other half", () => {
    const copy = copyOf("short.db");
    truncateSync(copy, Math.floor(statSync(copy).size / 2));
    const { found } = rebuildOf(copy);
    expect(found.messages).toBeGreaterThan(50);
    expect(found.messages).toBeLessThan(200);
    expect(found.withoutDelivery.length + found.withoutMessage.length).toBeGreaterThan(0);
  });

  test("finds nothing in an empty file, in one of another kind, and in one that is not there", () => {
    const noise = join(dir, "noise.db");
    const fd = openSync(noise, "w");
    const number = seeded(7);
    writeSync(fd, Buffer.from(Array.from({ length: 200_000 }, () => Math.floor(number() * 256))));
    closeSync(fd);
    for (const path of [noise, join(dir, "missing.db")])
      expect(rebuildOf(path).found).toMatchObject({ messages: 0, deliveries: 0, documents: 0, id: null });
  });

  test("does not take a broadcast that reached no one for one that lost its recipients", async () => {
    const copy = join(dir, "broadcasts.db");
    const ana = { id: agentId("a"), name: "ana", team: "web", knownBy: "token" } as const;
    const sealed = (to: string): Message => seal({ to, body: "hello" }, ana, { inReplyTo: null, hops: 1 });
    const [toNoOne, toSome, direct] = [sealed("@all"), sealed("@all"), sealed("bob")];
    {
      await using opened = openMailboxAt(copy);
      await opened.mailbox.accept(sealed("bob"), [readers[0]!]);
      await opened.mailbox.accept(toNoOne, []);
      await opened.mailbox.accept(sealed("bob"), [readers[0]!]);
      await opened.mailbox.accept(toSome, readers);
      await opened.mailbox.accept(direct, [readers[0]!]);
    }
    expect(rebuildOf(copy).found).toMatchObject({ messages: 5, deliveries: 6, withoutDelivery: [] });
    {
      using database = new Database(copy);
      database.run("PRAGMA foreign_keys = OFF");
      database.run("DELETE FROM deliveries WHERE message IN (SELECT seq FROM messages WHERE tag IN (?, ?))", [
        toSome.tag,
        direct.tag,
      ]);
      database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    }
    expect(rebuildOf(copy).found).toMatchObject({ withoutDelivery: [toSome.tag, direct.tag], lostDeliveries: 4 });
  });

  test("does not bring back what was deleted", async () => {
    const copy = copyOf("pruned.db");
    {
      await using opened = openMailboxAt(copy);
      const { mailbox } = opened;
      await mailbox.restored(Date.now(), () => "x");
      for (const { message } of mailbox.log({ limit: 1_000 })) await mailbox.cancel(message.id).catch(() => undefined);
      const later = Date.now() + 1_000_000_000_000;
      await mailbox.prune({ olderThan: later, freshSince: later, maxBytes: 1e12, batch: 150 });
    }
    const { found } = rebuildOf(copy);
    expect(found.messages).toBe(50);
    expect(
      [...salvagedRows(copy)].filter(({ values }) => values.length >= 22 && String(values[2]).startsWith("MSG_")),
    ).toHaveLength(50);
  });
});
