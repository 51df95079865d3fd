import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../testing/until.ts";
import { Checkpoints } from "./checkpoints.ts";
import { connect, type Connection } from "./connection.ts";

describe("checkpoints", () => {
  let dir: string;
  let path: string;
  let connection: Connection;
  let done: number;
  let checkpoints: Checkpoints;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "tl-checkpoints-"));
    path = join(dir, "a.db");
    connection = connect(path, { test: ["CREATE TABLE t (x TEXT)"] });
    done = 0;
    const report = (context: string, fault: unknown): never => {
      throw new Error(context, { cause: fault });
    };
    checkpoints = new Checkpoints(connection, { report, idleMs: 20, atMostMs: 200, onCheckpoint: () => void done++ });
  });
  afterEach(() => {
    checkpoints[Symbol.dispose]();
    connection[Symbol.dispose]();
    rmSync(dir, { recursive: true });
  });
  const write = (): void => {
    connection.commit(() => connection.statement("INSERT INTO t VALUES (?)").run("x".repeat(5_000)));
    checkpoints.wrote();
  };

  test("bring what was written into the database once nothing else is going on", async () => {
    expect(statSync(path).size).toBeLessThanOrEqual(4_096);
    for (let at = 0; at < 20; at++) write();
    expect(done).toBe(0);
    await until(() => done === 1, "the checkpoint");
    expect(statSync(path).size).toBeGreaterThan(100_000);
  });

  test("happen after a while although something is always being written", async () => {
    const writing = setInterval(write, 2);
    await until(() => done > 0, "a checkpoint");
    clearInterval(writing);
  });

  test("leave the file alone while it is held, make up for it, and the log is cut afterwards", async () => {
    const held = checkpoints.hold();
    const size = statSync(path).size;
    // SQLite by itself would have copied several times.
    for (let at = 0; at < 1_500; at++) write();
    expect([statSync(path).size, done]).toEqual([size, 0]);
    held[Symbol.dispose]();
    held[Symbol.dispose]();
    await until(() => done === 1, "the checkpoint");
    expect(statSync(path).size).toBeGreaterThan(7_000_000);
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(7_000_000);
    write();
    expect(statSync(`${path}-wal`).size).toBeLessThanOrEqual(4 * 1024 * 1024);
  });
});
