import { expect, test } from "bun:test";
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TielineError } from "../../model/errors.ts";
import { until } from "../../testing/until.ts";
import type { LogPosition } from "./fileTail.ts";
import { tailLogs } from "./tail.ts";

const lines = Array.from({ length: 20_000 }, (_, at) => `@a: ${at}`);
const refusedAt = 100;

test("nothing is read on while a message is refused for now, and nothing is remembered beyond it", async () => {
  const root = mkdtempSync(join(tmpdir(), "tl-pressure-"));
  writeFileSync(
    join(root, "agent.txt"),
    `[2026-01-31 09:00:00] RES: ${lines.join("\n")}\n[2026-01-31 09:00:01] RES: x\n`,
  );
  const stop = new AbortController();
  const store = new Map<string, LogPosition>();
  const accepted: string[] = [];
  let [open, offers, idle] = [false, 0, 0];
  const done = tailLogs({
    ...{ root, pattern: "*.txt", signal: stop.signal, rescanMs: 20 },
    offsets: { get: (path) => store.get(path), set: (path, position) => void store.set(path, position) },
    async onMessage({ content }) {
      offers++;
      if (!open && accepted.length === refusedAt)
        throw new TielineError("RATE_LIMITED", "too fast", { remedy: "wait" });
      accepted.push(content);
    },
    onIdle: () => void idle++,
  });
  await until(() => offers >= refusedAt + 5, "several more attempts at the same message");
  expect([accepted.length, idle]).toEqual([refusedAt, 0]);
  expect([...store.values()].every(({ through }) => through < 0)).toBe(true);
  open = true;
  await until(() => idle > 0, "everything to be read");
  stop.abort();
  await done;
  expect(accepted).toEqual(lines.map((_, at) => String(at)));
  expect(offers).toBeLessThan(lines.length + 200);
  rmSync(root, { recursive: true });
});

test("1,000 logs are read with few of them open, in every round that adds to them", async () => {
  const root = mkdtempSync(join(tmpdir(), "tl-pressure-"));
  const stop = new AbortController();
  const store = new Map<string, LogPosition>();
  const accepted: string[] = [];
  let mostOpen = 0;
  const countOpen = (): number => linksIn("/proc/self/fd").filter((path) => path.startsWith(`${root}/`)).length;
  const done = tailLogs({
    ...{ root, pattern: "*.txt", signal: stop.signal, rescanMs: 20, settleMs: 1 },
    offsets: { get: (path) => store.get(path), set: (path, position) => void store.set(path, position) },
    onMessage: async ({ content }) => {
      accepted.push(content);
      if (accepted.length % 100 === 0) mostOpen = Math.max(mostOpen, countOpen());
    },
  });
  const expected: string[] = [];
  for (const round of ["first", "second"]) {
    for (let at = 0; at < 1_000; at++) {
      expected.push(`${round} ${at}`);
      appendFileSync(join(root, `${at}.txt`), `[2026-01-31 09:00:00] RES: @a: ${round} ${at}\n`);
    }
    await until(
      () => accepted.length >= expected.length,
      () => `all of the ${round} round: ${accepted.length}`,
    );
    mostOpen = Math.max(mostOpen, countOpen());
  }
  stop.abort();
  await done;
  expect(accepted.toSorted()).toEqual(expected.toSorted());
  expect(mostOpen).toBeLessThanOrEqual(65);
  expect(process.platform !== "linux" || mostOpen > 10).toBe(true);
  rmSync(root, { recursive: true });
});

function linksIn(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory).flatMap((name) => {
    try {
      return readlinkSync(join(directory, name));
    } catch {
      return [];
    }
  });
}
