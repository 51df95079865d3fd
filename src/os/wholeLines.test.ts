import { afterAll, beforeAll, expect, test } from "bun:test";
import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { longestLineBytes, wholeLines } from "./wholeLines.ts";

let dir: string;
beforeAll(() => void (dir = mkdtempSync(join(tmpdir(), "tl-lines-"))));
afterAll(() => rmSync(dir, { recursive: true }));

/** Everything that is read from an offset, and how large the largest piece was. */
function readAll(path: string, from = 0): { text: string; end: number; largest: number; pieces: number } {
  let text = "";
  let [end, largest, pieces] = [from, 0, 0];
  for (;;) {
    const found = wholeLines(path, {}, () => end);
    if (found === null) throw new Error("no file");
    text += found.bytes.toString("utf8");
    [end, largest, pieces] = [found.end, Math.max(largest, found.bytes.length), pieces + 1];
    if (!found.more) return { text, end, largest, pieces };
  }
}

test("reads whole lines only, and the rest when it is whole", () => {
  const path = join(dir, "growing");
  writeFileSync(path, "one\ntwo\nthr");
  expect(readAll(path)).toMatchObject({ text: "one\ntwo\n", end: 8 });
  appendFileSync(path, "ee\n");
  expect(readAll(path, 8)).toMatchObject({ text: "three\n", end: 14 });
});

test("a long file comes in pieces of bounded size, without a gap", () => {
  const path = join(dir, "long");
  const text = Array.from({ length: 60_000 }, (_, at) => `line ${at} ${"x".repeat(at % 97)}\n`).join("");
  writeFileSync(path, text);
  const read = readAll(path);
  expect(read.text).toBe(text);
  expect(read.largest).toBeLessThanOrEqual(1 << 20);
  expect(read.pieces).toBeGreaterThan(3);
});

test("a line longer than a piece is whole; one above the limit is passed over, and what follows is read", () => {
  const path = join(dir, "wide");
  const wide = `${"w".repeat(3 << 20)}\n`;
  writeFileSync(path, `${wide}after\n`);
  expect(readAll(path).text).toBe(`${wide}after\n`);
  writeFileSync(path, "");
  truncateSync(path, longestLineBytes * 3);
  appendFileSync(path, "\nafter\n");
  const { text, largest } = readAll(path);
  expect(text.endsWith("\nafter\n")).toBe(true);
  expect(largest).toBeLessThanOrEqual(longestLineBytes + (1 << 20));
});

test("a missing file is none; what is no regular file is refused", () => {
  expect(wholeLines(join(dir, "nothing"), {}, () => 0)).toBeNull();
  Bun.spawnSync(["mkfifo", join(dir, "fifo")]);
  expect(() => wholeLines(join(dir, "fifo"), {}, () => 0)).toThrow("is a FIFO, not a regular file");
});
