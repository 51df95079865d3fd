import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { appendFileSync, copyFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readLog } from "./logFile.ts";

const dir = mkdtempSync(join(tmpdir(), "tl-log-"));
afterAll(() => rmSync(dir, { recursive: true }));

const database = new Database(join(dir, "a.db"));
database.run("PRAGMA locking_mode = EXCLUSIVE");
database.run("PRAGMA journal_mode = WAL");
database.run("PRAGMA wal_autocheckpoint = 0");
database.run("CREATE TABLE t (x TEXT)");
const log = join(dir, "a.db-wal");
const insert = (times: number): void => {
  for (let at = 0; at < times; at++) database.run("INSERT INTO t VALUES (?)", ["x".repeat(900)]);
};
const count = (query: string): number => (database.query(query).get() as Record<string, number>)["page_count"]!;

test("the pages of every complete transaction are there, and no others", () => {
  expect(readLog(join(dir, "missing"))).toEqual({ pages: new Map(), size: 0, pageBytes: 0 });
  insert(40);
  const pages = count("PRAGMA page_count");
  const content = readLog(log);
  expect(content).toMatchObject({ size: pages, pageBytes: 4096 });
  expect([...content.pages.keys()].toSorted((a, b) => a - b)).toEqual(Array.from({ length: pages }, (_, at) => at + 1));
  // The newest version of a page is the one that SQLite itself would copy into the database.
  copyFileSync(join(dir, "a.db"), join(dir, "b.db"));
  copyFileSync(log, join(dir, "b.db-wal"));
  const copy = new Database(join(dir, "b.db"));
  copy.query("PRAGMA wal_checkpoint(TRUNCATE)").get();
  copy.close();
  const copied = readFileSync(join(dir, "b.db"));
  const bytes = readFileSync(log);
  for (const [page, at] of content.pages)
    expect([page, bytes.compare(copied, (page - 1) * 4096, page * 4096, at, at + 4096)]).toEqual([page, 0]);
});

test("entries behind a damaged one, of an earlier round, or of a transaction without an end do not count", () => {
  const whole = readLog(log);
  const bytes = readFileSync(log);
  const damaged = join(dir, "damaged");
  const frame = 4096 + 24;
  writeFileSync(damaged, bytes);
  appendFileSync(damaged, new Uint8Array(3 * frame));
  expect(readLog(damaged)).toEqual(whole);
  truncateSync(damaged, 32 + 10 * frame + 100);
  expect(readLog(damaged).size).toBeLessThan(whole.size);
  bytes[32 + 24 + 7]! ^= 1;
  writeFileSync(damaged, bytes);
  expect(readLog(damaged)).toMatchObject({ size: 0 });
  writeFileSync(damaged, "not a log at all, but long enough to be one");
  expect(readLog(damaged)).toMatchObject({ size: 0 });

  // SQLite begins again at the start of the file, in front of what is left of the round before.
  database.run("PRAGMA wal_checkpoint(PASSIVE)");
  insert(2);
  expect(readLog(log).pages.size).toBeLessThan(6);
  expect(readLog(log).size).toBe(count("PRAGMA page_count"));
});
