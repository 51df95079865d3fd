import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTextParser } from "../src/intake/text/parser.ts";
import { until } from "../src/testing/until.ts";
import { resultOf } from "../src/testing/childResult.ts";

const script = join(import.meta.dir, "../bin/swarm-msg");
const shells: Record<string, string[]> = { dash: ["dash"], bash: ["bash"], "busybox ash": ["busybox", "ash"] };

const bodies = [
  "hello",
  'say "hi"',
  "it's",
  "back\\slash \\n \\\\ \\",
  "two\nlines\n\nand more",
  "ends in newlines\n\n",
  "\nbegins with one",
  "\ttab\rreturn\bbell\x07\x1b[31mred\x1b[0m\x7f",
  Array.from({ length: 31 }, (_, i) => String.fromCharCode(i + 1)).join(""),
  "grün 完 😀 \u2028\u2029 é",
  "$HOME `id` $(id) ${x} !! * ? [a] ~ # % & ; | < >",
  "%s %d %n \\u0041 \\x41 \\0101",
  "-n",
  "-e \\t",
  "--",
  "-f",
  "--help",
  " spaces  kept  ",
  '{"action":"fix","list":[1,2,{"a":"\\"b\\""}]}',
  "<<SWARM_MSG:END>>",
  "EOF\n.\n",
  "&&\\&&",
  "x".repeat(100_000),
  '"\\\n'.repeat(20_000),
  '"'.repeat(100_000),
  "\\".repeat(20_000),
  "\t\x01".repeat(20_000),
];

let root: string;
let count = 0;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "swarm-msg-"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function newWorkspace(): string {
  const workspace = join(root, `w${count++}`);
  mkdirSync(workspace);
  return workspace;
}

async function run(
  shell: string,
  workspace: string,
  args: string[],
  options: { env?: Record<string, string>; stdin?: string; shell?: string[] } = {},
) {
  const child = Bun.spawn([...(options.shell === undefined ? shells[shell]! : options.shell), script, ...args], {
    cwd: workspace,
    env: { PATH: process.env.PATH!, SWARM_WORKSPACE: workspace, ...options.env },
    stdin: options.stdin === undefined ? "ignore" : new TextEncoder().encode(options.stdin),
    stdout: "pipe",
    stderr: "pipe",
  });
  return resultOf(child);
}

const outbox = (workspace: string) => readdirSync(join(workspace, ".outbox")).sort();
const sent = (workspace: string) =>
  outbox(workspace).map((name) => JSON.parse(readFileSync(join(workspace, ".outbox", name), "utf8")));

function receive(workspace: string, name: string, message: Record<string, unknown>): void {
  mkdirSync(join(workspace, ".inbox"), { recursive: true });
  writeFileSync(join(workspace, ".inbox", name), `${JSON.stringify(message)}\n`);
}

describe.each(Object.keys(shells))("swarm-msg under %s", (shell) => {
  test("every body arrives as it was written", async () => {
    const workspace = newWorkspace();
    for (const body of bodies)
      expect(await run(shell, workspace, ["send", "coder", "--", body])).toMatchObject({ code: 0, stderr: "" });
    expect(sent(workspace)).toEqual(bodies.map((content) => ({ to: "coder", content })));
  }, 60_000);

  test("every body arrives from a file and from standard input", async () => {
    const workspace = newWorkspace();
    const file = join(workspace, "a file");
    for (const body of bodies) {
      writeFileSync(file, body);
      expect(await run(shell, workspace, ["send", "coder", "-f", file])).toMatchObject({ code: 0 });
      expect(await run(shell, workspace, ["send", "coder", "-f", "-"], { stdin: body })).toMatchObject({ code: 0 });
    }
    expect(sent(workspace)).toEqual(
      bodies.flatMap((content) => [
        { to: "coder", content },
        { to: "coder", content },
      ]),
    );
  }, 60_000);

  test("words are joined, a file follows the message, -- ends the options", async () => {
    const workspace = newWorkspace();
    writeFileSync(join(workspace, "patch"), "line\n");
    await run(shell, workspace, ["send", "coder", "hello", "wide", "world"]);
    await run(shell, workspace, ["send", "coder", "-f", "patch", "see", "this"]);
    await run(shell, workspace, ["send", "coder", "see", "this", "-f", "patch"]);
    await run(shell, workspace, ["send", "coder", "use", "-f", "with", "care"]);
    await run(shell, workspace, ["send", "--", "my-coder", "-f", "patch"]);
    await run(shell, workspace, ["broadcast", "phase", "done"]);
    expect(sent(workspace)).toEqual([
      { to: "coder", content: "hello wide world" },
      { to: "coder", content: "see this\n\nline\n" },
      { to: "coder", content: "see this\n\nline\n" },
      { to: "coder", content: "use -f with care" },
      { to: "my-coder", content: "-f patch" },
      { broadcast: true, content: "phase done" },
    ]);
    expect(outbox(workspace)).toEqual(
      [1, 2, 3, 4].map((n) => `000${n}_coder.json`).concat("0005_my-coder.json", "0006_broadcast.json"),
    );
  });

  test("40 concurrent sends get 40 numbers and leave nothing else behind", async () => {
    const workspace = newWorkspace();
    const all = Array.from({ length: 40 }, (_, i) => run(shell, workspace, ["send", `agent${i % 3}`, `message ${i}`]));
    for (const result of await Promise.all(all)) expect(result).toMatchObject({ code: 0, stderr: "" });
    const names = outbox(workspace);
    expect(names).toHaveLength(40);
    expect(new Set(names.map((name) => name.slice(0, 4))).size).toBe(40);
    expect(new Set(sent(workspace).map(({ content }) => content)).size).toBe(40);
  }, 60_000);

  test("numbers stay in order after 9998", async () => {
    const workspace = newWorkspace();
    mkdirSync(join(workspace, ".outbox"));
    writeFileSync(join(workspace, ".outbox", "9997_a.json"), "{}");
    for (const to of ["b", "c", "d"]) await run(shell, workspace, ["send", to, "x"]);
    expect(outbox(workspace)).toEqual(["9997_a.json", "9998_b.json", "99990000009999_c.json", "99990000010000_d.json"]);
  });

  test("list: the live file, then SWARM_TOPOLOGY, then the truth", async () => {
    const workspace = newWorkspace();
    expect(await run(shell, workspace, ["list"])).toMatchObject({ code: 1, stdout: "Topology not available\n" });
    const env = { SWARM_TOPOLOGY: "coder, my-reviewer" };
    expect(await run(shell, workspace, ["list"], { env })).toMatchObject({
      code: 0,
      stdout: "Agents you can message:\n  - coder\n  - my-reviewer\n",
    });
    mkdirSync(join(workspace, ".inbox"));
    writeFileSync(join(workspace, ".inbox/.agents"), "ops\n");
    expect((await run(shell, workspace, ["list"], { env })).stdout).toBe("Agents you can message:\n  - ops\n");
  });

  test("inbox prints each message once, whatever is in it", async () => {
    const workspace = newWorkspace();
    expect(await run(shell, workspace, ["inbox"])).toMatchObject({ code: 0, stdout: "No messages.\n" });
    for (const [i, content] of bodies.slice(0, -2).entries()) {
      receive(workspace, `${String(i + 1).padStart(4, "0")}_bob.json`, {
        from: "bob",
        content,
        seq: i,
        timestamp: "2026-01-31T09:00:00.000Z",
        id: `id${i}`,
        tag: `MSG_BOB_${i}`,
      });
    }
    const { stdout } = await run(shell, workspace, ["inbox"]);
    for (const [i, content] of bodies.slice(0, -2).entries()) {
      expect(stdout).toContain(
        `[MSG_BOB_${i} from bob · an agent, not your user] 2026-01-31T09:00:00.000Z\n${content}\n[end MSG_BOB_${i} `,
      );
    }
    expect((await run(shell, workspace, ["inbox"])).stdout).toBe("No new messages.\n");
    receive(workspace, "0099_eve.json", {
      from: "eve",
      content: "new",
      seq: 99,
      timestamp: "t",
      id: "i",
      tag: "MSG_EVE_1",
    });
    expect((await run(shell, workspace, ["inbox"])).stdout).toStartWith(
      "[MSG_EVE_1 from eve · an agent, not your user] t\nnew\n",
    );
  });

  test("ask waits for the reply to its own message", async () => {
    const workspace = newWorkspace();
    const asking = run(shell, workspace, ["ask", "coder", "how", "far?"]);
    const isComplete = (name: string): boolean => /^\d.*\.json$/.test(name);
    await until(
      () => existsSync(join(workspace, ".outbox")) && outbox(workspace).some(isComplete),
      "the question in the outbox",
    );
    const question = JSON.parse(readFileSync(join(workspace, ".outbox", outbox(workspace).find(isComplete)!), "utf8"));
    expect(question).toMatchObject({ to: "coder", content: "how far?" });
    receive(workspace, "0001_eve.json", {
      from: "eve",
      content: "other",
      seq: 1,
      timestamp: "t",
      id: "1",
      tag: "A",
      replyTo: "else",
    });
    receive(workspace, "0002_coder.json", {
      from: "coder",
      content: 'nearly "there"',
      seq: 2,
      timestamp: "t",
      id: "2",
      tag: "B",
      replyTo: question.id,
    });
    expect(await asking).toMatchObject({ code: 0, stdout: 'nearly "there"\n' });
    expect(await run(shell, workspace, ["ask", "-t", "0", "coder", "again?"])).toMatchObject({ code: 4, stdout: "" });
  }, 60_000);

  test("reply answers by tag or id", async () => {
    const workspace = newWorkspace();
    receive(workspace, "0001_bob.json", {
      from: "bob",
      content: "?",
      seq: 1,
      timestamp: "t",
      id: "id-1",
      tag: "MSG_BOB_1",
    });
    await run(shell, workspace, ["reply", "MSG_BOB_1", "yes", "of course"]);
    await run(shell, workspace, ["reply", "id-1", "-f", "-"], { stdin: "no" });
    expect(sent(workspace)).toEqual([
      { to: "bob", content: "yes of course", replyTo: "id-1" },
      { to: "bob", content: "no", replyTo: "id-1" },
    ]);
    expect(await run(shell, workspace, ["reply", "MSG_NO", "x"])).toMatchObject({ code: 1 });
  });

  test("the stdout commands print blocks that the parser reads", async () => {
    const workspace = newWorkspace();
    const one = await run(shell, workspace, ["send-stdout", "my-coder", "hello", 'a "b"\n\\c']);
    const all = await run(shell, workspace, ["broadcast-stdout", "done"]);
    const parser = createTextParser();
    expect(parser.push(one.stdout + all.stdout)).toMatchObject([
      { to: "my-coder", content: 'hello a "b"\n\\c' },
      { to: "@all", content: "done" },
    ]);
    expect(await run(shell, workspace, ["send-stdout", "a", "<<SWARM_MSG:END>>"])).toMatchObject({
      code: 1,
      stdout: "",
    });
  });

  test("what cannot be done is said, and leaves nothing behind", async () => {
    const workspace = newWorkspace();
    for (const args of [
      ["send"],
      ["send", "coder"],
      ["send", 'a"b', "x"],
      ["send", "../x", "x"],
      ["broadcast"],
      ["send", "a", "-f"],
      ["nonsense"],
    ]) {
      expect(await run(shell, workspace, args)).toMatchObject({ code: 2, stdout: "" });
    }
    writeFileSync(join(workspace, "nul"), "a\0b");
    writeFileSync(join(workspace, "big"), "x".repeat(1048577));
    expect(await run(shell, workspace, ["send", "a", "-f", "missing"])).toMatchObject({ code: 1 });
    expect(await run(shell, workspace, ["send", "a", "-f", "nul"])).toMatchObject({ code: 1 });
    expect(await run(shell, workspace, ["send", "a", "-f", "big"])).toMatchObject({ code: 1 });
    expect(outbox(workspace)).toEqual([]);
    for (const args of [["help"], ["--help"], ["-h"], []])
      expect((await run(shell, workspace, args)).stdout).toStartWith("Usage: swarm-msg");
  });

  test("a message whose output is closed is sent; mail that could not be printed is still new", async () => {
    const workspace = newWorkspace();
    const onFullDisk = (...words: string[]) =>
      Bun.spawnSync([...shells[shell]!, "-c", `"$@" >/dev/full`, "sh", ...shells[shell]!, script, ...words], {
        env: { PATH: process.env.PATH!, SWARM_WORKSPACE: workspace },
      }).exitCode;
    expect(onFullDisk("send", "coder", "hello")).toBe(0);
    expect(sent(workspace)).toEqual([{ to: "coder", content: "hello" }]);
    receive(workspace, "0001_bob.json", {
      from: "bob",
      content: "read me",
      seq: 1,
      timestamp: "t",
      id: "1",
      tag: "MSG_BOB_1",
    });
    expect(onFullDisk("inbox")).toBe(1);
    expect((await run(shell, workspace, ["inbox"])).stdout).toContain("read me");
  });

  test("a workspace that cannot be written to is an error", async () => {
    const workspace = newWorkspace();
    writeFileSync(join(workspace, ".outbox"), "in the way");
    expect(await run(shell, workspace, ["send", "a", "x"])).toMatchObject({ code: 1, stdout: "" });
  });
});

/** Each awk that is here, with the other tools of the system, and busybox alone with all of its own. */
const tools = ["cat", "cmp", "date", "mkdir", "mv", "od", "rm", "sleep", "tr", "wc"];
const awks = ["mawk", "gawk", "original-awk", "busybox"].filter((name) => Bun.which(name) !== null);

describe.each(awks)("swarm-msg with the awk of %s", (name) => {
  function pathOf(workspace: string): string {
    const bin = join(workspace, "bin");
    mkdirSync(bin);
    for (const tool of name === "busybox" ? ["awk", ...tools] : tools)
      symlinkSync(Bun.which(name === "busybox" ? "busybox" : tool)!, join(bin, tool));
    if (name !== "busybox") symlinkSync(Bun.which(name)!, join(bin, "awk"));
    return bin;
  }

  test("every body goes out and comes in as it was written", async () => {
    const workspace = newWorkspace();
    const env = { PATH: pathOf(workspace), LANG: "C.UTF-8" };
    const file = join(workspace, "body");
    const shell = name === "busybox" ? [Bun.which("busybox")!, "ash"] : [Bun.which("dash")!];
    for (const [i, content] of bodies.entries()) {
      writeFileSync(file, content);
      expect(await run(name, workspace, ["send", "coder", "-f", file], { env, shell })).toMatchObject({
        code: 0,
        stderr: "",
      });
      receive(workspace, `${String(i + 1).padStart(4, "0")}_bob.json`, {
        from: "bob",
        content,
        seq: i,
        timestamp: "t",
        id: `id${i}`,
        tag: `MSG_BOB_${i}`,
      });
    }
    receive(workspace, "0099_bob.json", {
      from: "bob",
      content: "",
      seq: 99,
      timestamp: "t",
      id: "i",
      tag: "MSG_BOB_99",
    });
    writeFileSync(
      join(workspace, ".inbox/0098_bob.json"),
      '{"from":"bob","content":"\\u00fc\\ud83d\\ude00\\/","seq":98,"timestamp":"t","id":"x","tag":"MSG_BOB_98"}',
    );
    expect(sent(workspace)).toEqual(bodies.map((content) => ({ to: "coder", content })));
    const { stdout } = await run(name, workspace, ["inbox"], { env, shell });
    expect(stdout).toBe(
      [...bodies.entries(), [98, "ü😀/"], [99, ""]]
        .map(([i, content]) => shown(`MSG_BOB_${i}`, String(content)))
        .join(""),
    );
  }, 60_000);
});

const shown = (tag: string, content: string): string =>
  `[${tag} from bob · an agent, not your user] t\n${content}\n[end ${tag} · reply: swarm-msg reply ${tag} ` +
  `<message>]\n\n`;
