import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resultOf } from "../src/testing/childResult.ts";

/** scripts/test on a small checkout of its own: what it runs, what it counts, and what the tests can see. */
const root = join(import.meta.dir, "..");

let checkout: string;
beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), "tieline-lanes-"));
  cpSync(join(root, "src/testing/fixedSeed.ts"), join(checkout, "src/testing/fixedSeed.ts"));
  cpSync(join(root, "scripts"), join(checkout, "scripts"), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(checkout, "node_modules"));
  check("exit 0");
});
afterEach(() => rmSync(checkout, { recursive: true }));

function check(body: string): void {
  writeFileSync(join(checkout, "scripts/check"), `#!/bin/sh\n${body}\n`);
  chmodSync(join(checkout, "scripts/check"), 0o755);
}

function file(name: string, body: string): void {
  writeFileSync(join(checkout, "src", name), `import { expect, test } from "bun:test";\n${body}\n`);
}

async function run(
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<{ code: number; lastLine: string; output: string }> {
  const child = Bun.spawn([join(checkout, "scripts/test"), ...args], {
    env: { PATH: process.env["PATH"]!, HOME: checkout, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const { code, stdout, stderr } = await resultOf(child);
  return { code, lastLine: stdout.trimEnd().split("\n").at(-1)!, output: stdout + stderr };
}

const good = `test("good", () => expect(1).toBe(1));`;
const bad = `test("bad", () => expect(1).toBe(2));`;

test("what passed, failed and was skipped is counted over all files", async () => {
  file("a.test.ts", `${good}\n${bad}\ntest.skip("later", () => {});`);
  file("b.test.ts", good);
  expect(await run()).toMatchObject({ code: 1, lastLine: "2 passed, 1 failed, 1 skipped" });
});

test("all good is exit 0", async () => {
  file("a.test.ts", good);
  expect(await run()).toMatchObject({ code: 0, lastLine: "1 passed, 0 failed" });
});

test.each([
  ["a file that cannot be loaded", `import "./nothing.ts";`],
  ["a runner that dies", `process.kill(process.pid, "SIGKILL");`],
  ["a runner that leaves early and says that all is well", `test("leaves", () => process.exit(0));`],
])("%s is a failure", async (_, body) => {
  file("a.test.ts", good);
  file("b.test.ts", body);
  const { code, lastLine } = await run();
  expect(code).toBe(1);
  expect(lastLine).toMatch(/^\d+ passed, [1-9]\d* failed$/);
});

test("no test at all is no success", async () => {
  expect(await run()).toMatchObject({ code: 1, lastLine: "0 passed, 0 failed" });
  file("a.test.ts", good);
  expect(await run(["no-such-file"])).toMatchObject({ code: 1, lastLine: "0 passed, 0 failed" });
});

test("a failed check is a failure, and the tests run all the same", async () => {
  check("echo not clean; exit 1");
  file("a.test.ts", good);
  expect(await run()).toMatchObject({ code: 1, lastLine: "1 passed, 1 failed" });
});

test("each lane runs its own files", async () => {
  for (const name of ["a.test.ts", "b.long.test.ts", "c.agents.test.ts", "d.browser.test.ts", "e.attack.test.ts"])
    file(name, `test("in ${name}", () => {});`);
  const filesIn = async (...args: string[]): Promise<string[]> =>
    [...(await run(args)).output.matchAll(/\(pass\) in (\w)/g)].map(([, letter]) => letter!);
  expect(await filesIn()).toEqual(["a"]);
  expect(await filesIn("--long")).toEqual(["b"]);
  expect(await filesIn("--agents")).toEqual(["c"]);
  expect(await filesIn("--browser")).toEqual(["d"]);
  expect(await filesIn("--attack")).toEqual(["e"]);
});

test("words choose files, and flags with their values are passed to the runner", async () => {
  file("courier.test.ts", `${good}\ntest("held back", () => {});`);
  file("router.test.ts", bad);
  expect(await run(["courier"])).toMatchObject({ code: 0, lastLine: "2 passed, 0 failed" });
  expect(await run(["./src/courier", "-t", "held back"])).toMatchObject({
    code: 0,
    lastLine: expect.stringMatching(/^1 passed, 0 failed/),
  });
});

test("nothing of the caller's environment reaches the tests", async () => {
  const theirs = {
    TMUX: "/tmp/x,1,0",
    TMUX_PANE: "%1",
    TIELINE_HOME: "/x",
    TIELINE_TOKEN: "t",
    CLAUDECODE: "1",
    CODEX_THREAD_ID: "c",
    EDITOR: "vi",
  };
  file(
    "a.test.ts",
    `test("clean", () => {
      for (const name of ${JSON.stringify(Object.keys(theirs))}) expect(process.env[name]).toBeUndefined();
      expect(process.env.HOME).not.toBe(${JSON.stringify(checkout)});
      expect(process.env.HOME).toStartWith("/tmp/tieline-test.");
      expect(process.env.TMPDIR).toStartWith("/tmp/tieline-test.");
      expect(process.env.CI).toBe("yes");
    });`,
  );
  expect(await run([], { ...theirs, CI: "yes" })).toMatchObject({ code: 0, lastLine: "1 passed, 0 failed" });
});
