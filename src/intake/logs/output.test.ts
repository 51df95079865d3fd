import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { partOf } from "../../delivery/transports/streams.ts";
import { block, openLogFolder, type LogFolder } from "../../testing/logFolder.ts";

let root: string;
let store: LogFolder["store"];
let start: LogFolder["start"];
let remove: LogFolder["remove"];
beforeEach(() => {
  ({ root, store, start, remove } = openLogFolder());
});
afterEach(() => remove());

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
    writeFileSync(output, "thinking\n@a: one\nand more\n");
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
    expect([...tail.contents(), ...again.contents()]).toEqual(["a: one\nand more", "b: two", "c: three"]);
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

  test("a message that was read in part arrives whole and once, also after a restart", async () => {
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

  test("an unclosed code fence does not silence a program for good", async () => {
    writeFileSync(output, "```\n@a: quoted\n");
    const tail = start(plain);
    await tail.until(() => store.has(output));
    await pause(tail, 61_000);
    appendFileSync(output, "@b: spoken\n@c: and more\n");
    await tail.until(() => tail.messages.length === 1);
    await tail.stop();
    expect(tail.contents()).toEqual(["b: spoken"]);
  });

  test("text without an address is not stored anywhere", async () => {
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

  test("needs no entries, and repeats nothing after a restart", async () => {
    const file = join(root, "agent.txt");
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
