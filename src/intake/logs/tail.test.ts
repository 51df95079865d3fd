import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Conditions } from "../../testing/conditions.ts";
import { partOf } from "../../delivery/transports/streams.ts";
import type { LoggedMessage, LogPosition } from "./fileTail.ts";
import { tailLogs, type TailOptions } from "./tail.ts";

let root: string;
let file: string;
let store: Map<string, LogPosition>;
let second: number;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "logs-"));
  file = join(root, "agent.txt");
  store = new Map();
  second = 0;
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const stamp = () => `[2026-01-31 09:00:${String(second++).padStart(2, "0")}]`;
const res = (text: string) => `${stamp()} RES: ${text}\n`;
const block = (to: string, text: string) => `<<SWARM_MSG:TO=${to}:START>>${text}<<SWARM_MSG:END>>`;

/** A tail with a clock of its own, which stands still, so that nothing settles unless the test says so. */
function start(options: Partial<TailOptions> = {}) {
  const controller = new AbortController();
  const messages: LoggedMessage[] = [];
  const rejected: string[] = [];
  const { changed, until } = new Conditions();
  const clock = { nowMs: 0 };
  let saves = 0;
  const accept = options.onMessage ?? (async () => {});
  const done = tailLogs({
    root,
    pattern: "*.txt",
    signal: controller.signal,
    rescanMs: 20,
    clock: () => clock.nowMs,
    onRejected: ({ reason }) => rejected.push(reason),
    ...options,
    offsets: {
      get: (path) => store.get(path),
      set(path, position) {
        saves++;
        store.set(path, position);
        changed();
      },
    },
    async onMessage(found) {
      await accept(found);
      messages.push(found);
      changed();
    },
  });
  return {
    messages,
    rejected,
    clock,
    saves: () => saves,
    contents: () => messages.map(({ to, content }) => `${to}: ${content}`),
    until,
    async stop() {
      controller.abort();
      await done;
    },
  };
}

describe("tailing a program's output", () => {
  test("needs no entries, and repeats nothing after a restart", async () => {
    writeFileSync(file, "thinking…\n@coder: one\n@all: two\n<<SWARM_MSG:TO=coder:START>>\nthree");
    const before = start({ plain: true });
    await before.until(() => before.messages.length === 2);
    await before.stop();
    appendFileSync(file, ", whole<<SWARM_MSG:END>>\n");
    const after = start({ plain: true });
    await after.until(() => after.messages.length === 1);
    await after.stop();
    expect([...before.contents(), ...after.contents()]).toEqual(["coder: one", "@all: two", "coder: three, whole"]);
  });
});

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

  test("a line that pauses before its newline is sent whole; one that never gets it is sent after a minute", async () => {
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

  test("a file that is rotated out of sight, or removed, ends with its last entry", async () => {
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

  test("truncation: what is written afterwards is new, also when it happened while nobody looked", async () => {
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

describe("what a program printed", () => {
  const plain = { plain: true, pattern: "*.out" };
  let output: string;
  beforeEach(() => {
    output = join(root, "run.out");
  });

  /** Lets time go by in steps of `ms`, until the pause has ended the turn. */
  async function pause(tail: ReturnType<typeof start>, ms: number): Promise<void> {
    const passing = setInterval(() => (tail.clock.nowMs += ms), 5);
    await tail.until(() => store.get(output)?.offset === Bun.file(output).size);
    clearInterval(passing);
  }

  test("a pause ends a turn, and the next one is read from there, also after a restart", async () => {
    writeFileSync(output, "thinking\n@a: one\nand more of it\n");
    const tail = start(plain);
    await tail.until(() => store.has(output));
    await pause(tail, 2_000);
    appendFileSync(output, "not addressed\n@b: two\n");
    await pause(tail, 2_000);
    await tail.stop();
    appendFileSync(output, "@c: three\n@d: four\n");
    const again = start(plain);
    await again.until(() => again.messages.length === 1);
    await again.stop();
    expect([...tail.contents(), ...again.contents()]).toEqual(["a: one\nand more of it", "b: two", "c: three"]);
  });

  test("a line or a code fence that pauses is sent whole, also over a restart", async () => {
    writeFileSync(output, "@a: first half");
    const tail = start(plain);
    await tail.until(() => store.has(output));
    tail.clock.nowMs += 2_500;
    appendFileSync(output, " second half\n```sh\nmake");
    tail.clock.nowMs += 2_500;
    await tail.stop();
    const again = start(plain);
    again.clock.nowMs += 2_500;
    appendFileSync(output, " all\n```\n");
    await pause(again, 2_000);
    await again.stop();
    expect([...tail.contents(), ...again.contents()]).toEqual(["a: first half second half\n```sh\nmake all\n```"]);
  });

  test("a line without its newline, such as a prompt, keeps nothing back for longer than a minute", async () => {
    writeFileSync(output, "@a: one\n> ");
    const tail = start(plain);
    await tail.until(() => store.has(output));
    const passing = setInterval(() => (tail.clock.nowMs += 61_000), 5);
    await tail.until(() => tail.messages.length === 1);
    clearInterval(passing);
    appendFileSync(output, "ok\n@b: two\n");
    await pause(tail, 2_000);
    await tail.stop();
    expect(tail.contents()).toEqual(["a: one\n>", "b: two"]);
  });

  test("a block waits for its END over any pause and a restart", async () => {
    writeFileSync(output, "<<SWARM_MSG:TO=a:START>>\nfirst ");
    const tail = start(plain);
    await tail.until(() => store.has(output));
    tail.clock.nowMs += 1_000_000;
    await tail.stop();
    appendFileSync(output, "and second\n<<SWARM_MSG:END>>\n");
    const again = start(plain);
    await again.until(() => again.messages.length === 1);
    await again.stop();
    expect(again.contents()).toEqual(["a: first and second"]);
  });

  test("what was read is cut off in the middle of a message: it comes whole and once, also after a restart", async () => {
    const filler = `${"x".repeat(99)}\n`.repeat(4_000);
    writeFileSync(output, `${block("a", "one")}\n${filler}${block("b", "two")}\n<<SWARM_MSG:TO=c:START>>thr`);
    const tail = start({ ...plain, partOf });
    await tail.until(() => tail.messages.length === 2 && store.get(output)!.offset > 0);
    const { offset } = store.get(output)!;
    const rest = readFileSync(output, "utf8").slice(offset);
    writeFileSync(join(root, `run+${offset}.out`), `${rest}ee<<SWARM_MSG:END>>\n`);
    rmSync(output);
    await tail.until(() => tail.messages.length === 3);
    await tail.stop();
    appendFileSync(join(root, `run+${offset}.out`), `${block("d", "four")}\n`);
    const again = start({ ...plain, partOf });
    await again.until(() => again.messages.length === 1);
    await again.stop();
    expect([...tail.contents(), ...again.contents()]).toEqual(["a: one", "b: two", "c: three", "d: four"]);
    expect(new Set([...tail.messages, ...again.messages].map(({ key }) => key)).size).toBe(4);
  });

  test("a code fence that nobody closed does not silence a program for good", async () => {
    writeFileSync(output, "```\n@a: quoted\n");
    const tail = start(plain);
    await tail.until(() => store.has(output));
    await pause(tail, 61_000);
    appendFileSync(output, "@b: spoken\n@c: and more\n");
    await tail.until(() => tail.messages.length === 1);
    await tail.stop();
    expect(tail.contents()).toEqual(["b: spoken"]);
  });

  test("words for nobody are not written down anywhere", async () => {
    writeFileSync(output, "");
    const tail = start(plain);
    await tail.until(() => store.has(output));
    const remembered = store.get(output);
    for (let line = 0; line < 200; line++) appendFileSync(output, `just thinking ${line}\n`);
    appendFileSync(output, "@a: one\n@a: .\n");
    await tail.until(() => tail.messages.length === 1);
    expect(tail.saves()).toBeLessThanOrEqual(2);
    await tail.stop();
    expect(remembered).toMatchObject({ offset: 0, through: -1 });
  });

  test("the same text in the file of another start is another message", async () => {
    writeFileSync(output, "@a: hello\n@a: .\n");
    const tail = start(plain);
    await tail.until(() => tail.messages.length === 1);
    renameSync(output, join(root, "gone"));
    await tail.until(() => tail.messages.length === 2);
    renameSync(join(root, "gone"), join(root, "run2.out"));
    await tail.until(() => tail.messages.length === 3);
    await tail.stop();
    expect(new Set(tail.messages.map(({ key }) => key)).size).toBe(3);
  });
});
