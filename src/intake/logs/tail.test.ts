import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LoggedMessage } from "./fileTail.ts";
import { block, openLogFolder, type LogFolder } from "../../testing/logFolder.ts";

let root: string;
let store: LogFolder["store"];
let start: LogFolder["start"];
let remove: LogFolder["remove"];
let file: string;
let second: number;
beforeEach(() => {
  ({ root, store, start, remove } = openLogFolder());
  file = join(root, "agent.txt");
  second = 0;
});
afterEach(() => remove());

const stamp = () => `[2026-01-31 09:00:${String(second++).padStart(2, "0")}]`;
const res = (text: string) => `${stamp()} RES: ${text}\n`;

describe("tailing logs", () => {
  test("a directory that became a link leads nowhere outside", async () => {
    const outside = mkdtempSync(join(tmpdir(), "outside-"));
    writeFileSync(join(outside, "agent.txt"), `${res("@a: smuggled")}${res("x")}`);
    symlinkSync(outside, join(root, "logs"));
    const fault = Promise.withResolvers<string>();
    const tail = start({
      root: join(root, "logs"),
      rules: { below: root },
      onFault: ({ code }) => fault.resolve(code),
    });
    expect(await fault.promise).toBe("FILE_REFUSED");
    await tail.stop();
    expect(tail.messages).toEqual([]);
    rmSync(outside, { recursive: true });
  });

  test("finds what RES entries say, in files that are there and in files that come later", async () => {
    writeFileSync(file, `${stamp()} REQ: @a: no\n${res("@a: one\nmore")}${res("Done. @b: two")}${stamp()} TOOL: x\n`);
    const tail = start({ rescanMs: 600_000 });
    await tail.until(() => tail.messages.length === 2);
    writeFileSync(join(root, "later.txt"), `${res(block("c", "three"))}`);
    writeFileSync(join(root, "other.md"), res("@d: no"));
    await tail.until(() => tail.messages.length === 3);
    await tail.stop();
    expect(tail.contents()).toEqual(["a: one\nmore", "b: two", "c: three"]);
    expect(new Set(tail.messages.map(({ key }) => key)).size).toBe(3);
  });

  test("a block that comes in many pieces, with restarts in between, comes out once and whole", async () => {
    const text = res(`before\n${block("a", "grün 😀 block")}\nafter. @b: the end`) + res("x");
    const all: LoggedMessage[] = [];
    writeFileSync(file, "");
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 7) {
      appendFileSync(file, bytes.subarray(at, at + 7));
      const tail = start({ unknownFiles: "read" });
      await Promise.resolve();
      await tail.stop();
      all.push(...tail.messages);
    }
    const last = start();
    await last.until(() => (store.get(file)?.offset ?? 0) > 0);
    await last.stop();
    all.push(...last.messages);
    expect(all.map(({ to, content }) => `${to}: ${content}`)).toEqual(["a: grün 😀 block", "b: the end"]);
  });

  test("bytes may be cut inside a character", async () => {
    const bytes = Buffer.from(res(`${block("a", "one")}\n${block("b", "😀 grün")}`));
    const inside = bytes.indexOf("😀") + 2;
    writeFileSync(file, bytes.subarray(0, inside));
    const tail = start({ unknownFiles: "read" });
    await tail.until(() => tail.messages.length === 1);
    appendFileSync(file, bytes.subarray(inside));
    await tail.until(() => tail.messages.length === 2);
    await tail.stop();
    expect(tail.contents()).toEqual(["a: one", "b: 😀 grün"]);
  });

  test("the last entry counts as ended when the file is quiet; what is added then is its continuation", async () => {
    writeFileSync(file, res("@a: one"));
    const tail = start({ settleMs: 1_000 });
    await tail.until(() => store.get(file)?.loggedAt !== "" && store.has(file));
    expect(tail.messages).toEqual([]);
    tail.clock.nowMs = 1_000;
    await tail.until(() => tail.messages.length === 1);
    await tail.stop();

    appendFileSync(file, "more of one\n@b: two\n");
    const again = start({ settleMs: 0 });
    await again.until(() => again.messages.length === 1);
    appendFileSync(file, res("@c: three"));
    await again.until(() => again.messages.length === 2);
    await again.stop();
    expect([...tail.contents(), ...again.contents()]).toEqual(["a: one", "b: two", "c: three"]);
  });

  test("a line that pauses before its newline is sent whole; one without a newline after a minute", async () => {
    writeFileSync(file, res("@a: first half").trimEnd());
    const tail = start();
    await tail.until(() => store.get(file)?.loggedAt !== "" && store.has(file));
    tail.clock.nowMs += 59_000;
    appendFileSync(file, " second half\n@b: never ended");
    const passing = setInterval(() => (tail.clock.nowMs += 61_000), 5);
    await tail.until(() => tail.messages.length === 2);
    clearInterval(passing);
    await tail.stop();
    expect(tail.contents()).toEqual(["a: first half second half", "b: never ended"]);
  });

  test("an open block waits for its end, however quiet the file is", async () => {
    writeFileSync(file, res("@z: first\n<<SWARM_MSG:TO=a:START>>half").trimEnd());
    const tail = start({ settleMs: 0, unfinishedMs: 0 });
    await tail.until(() => tail.messages.length === 1);
    appendFileSync(file, " and half<<SWARM_MSG:END>>\n");
    await tail.until(() => tail.messages.length === 2);
    await tail.stop();
    expect(tail.contents()).toEqual(["z: first", "a: half and half"]);
    expect(tail.rejected).toEqual([]);
  });

  test("messages that were not accepted come again, under the same keys", async () => {
    writeFileSync(file, res("@a: one\n@b: two") + res("x"));
    const offered: string[] = [];
    const tail = start({
      async onMessage({ key }) {
        offered.push(key);
        if (offered.length <= 2) throw new Error("not now");
      },
    });
    await tail.until(() => tail.messages.length === 2);
    await tail.stop();
    const [first, second, third, fourth] = offered;
    expect([second, third]).toEqual([first, first]);
    expect([offered.length, fourth === first]).toEqual([4, false]);
    const restarted = start();
    await restarted.stop();
    expect(restarted.messages).toEqual([]);
  });

  test("rotation: the old file is read to its end, the new one from its start, none twice", async () => {
    writeFileSync(file, res("@a: one"));
    const tail = start();
    await tail.until(() => (store.get(file)?.loggedAt ?? "") !== "");
    appendFileSync(file, res("@b: two"));
    renameSync(file, join(root, "agent.1.txt"));
    writeFileSync(file, res("@c: three") + res("x"));
    await tail.until(() => tail.messages.length === 2);
    appendFileSync(join(root, "agent.1.txt"), res("x"));
    await tail.until(() => tail.messages.length === 3);
    await tail.stop();
    expect(tail.contents().sort()).toEqual(["a: one", "b: two", "c: three"]);
  });

  test("a file that is rotated away, or removed, ends with its last entry", async () => {
    writeFileSync(file, res("@a: one"));
    const tail = start();
    await tail.until(() => (store.get(file)?.loggedAt ?? "") !== "");
    rmSync(file);
    await tail.until(() => tail.messages.length === 1);
    writeFileSync(file, res("@b: two") + res("x"));
    await tail.until(() => tail.messages.length === 2);
    await tail.stop();
    expect(tail.contents()).toEqual(["a: one", "b: two"]);
  });

  test("truncation: what is written afterwards is new, also when it happened unwatched", async () => {
    writeFileSync(file, res("@a: one") + res("x"));
    const tail = start();
    await tail.until(() => tail.messages.length === 1);
    truncateSync(file);
    appendFileSync(file, res("@b: two") + res("y"));
    await tail.until(() => tail.messages.length === 2);
    await tail.stop();
    writeFileSync(file, res("@c: three, and longer than before") + res("a longer rest"));
    const again = start();
    await again.until(() => again.messages.length === 1);
    await again.stop();
    expect([...tail.contents(), ...again.contents()]).toEqual(["a: one", "b: two", "c: three, and longer than before"]);
  });

  test("files that are there at first can be skipped; what is added to them is not, also after a restart", async () => {
    writeFileSync(file, res("@a: old") + res("x"));
    const tail = start({ unknownFiles: "skip" });
    await tail.until(() => store.has(file));
    await tail.stop();
    appendFileSync(file, res("@b: new") + res("y"));
    const again = start({ unknownFiles: "skip" });
    await again.until(() => again.messages.length === 1);
    await again.stop();
    expect([...tail.contents(), ...again.contents()]).toEqual(["b: new"]);
  });

  test("a pattern may reach into directories that do not exist yet", async () => {
    const tail = start({ pattern: "logs/*.txt" });
    mkdirSync(join(root, "logs"));
    writeFileSync(join(root, "logs/a.txt"), res("@a: one") + res("x"));
    await tail.until(() => tail.messages.length === 1);
    await tail.stop();
    expect(tail.contents()).toEqual(["a: one"]);
  });
});
