import { afterEach, beforeEach, expect, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plantBunSettings } from "../src/testing/bunSettings.ts";
import { resultOf, type ChildResult } from "../src/testing/childResult.ts";

const checkout = join(import.meta.dir, "..");
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tl-launcher-"));
  for (const part of ["bin", "scripts", "src", "package.json", "tsconfig.json"])
    cpSync(join(checkout, part), join(root, part), { recursive: true });
  symlinkSync(join(checkout, "node_modules"), join(root, "node_modules"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function run(...argv: string[]): Promise<ChildResult> {
  return runIn(root, ...argv);
}

async function runIn(cwd: string, ...argv: string[]): Promise<ChildResult> {
  const env = { PATH: process.env["PATH"]!, HOME: root, TIELINE_HOME: join(root, "home"), TIELINE_SANDBOX: "1" };
  const child = Bun.spawn(argv, { cwd, env, stdout: "pipe", stderr: "pipe" });
  return resultOf(child);
}

/** Makes the tree what the package is: with the bundle, without the file that it is made of. */
async function build(): Promise<void> {
  expect((await run(process.execPath, join(root, "scripts/build-cli.ts"))).code).toBe(0);
  rmSync(join(root, "src/cli/main.ts"));
}

const tieline = (...argv: string[]) => run(join(root, "bin/tieline"), ...argv);

test("a checkout runs its sources, the package its bundle", async () => {
  const bundle = join(root, "dist/cli/main.js");
  expect((await tieline("version")).stdout).toStartWith("tieline ");
  await build();
  expect((await tieline("version")).stdout).toStartWith("tieline ");
  writeFileSync(bundle, `console.log("from the bundle")`);
  expect((await tieline("version")).stdout).toBe("from the bundle\n");
  cpSync(join(checkout, "src/cli/main.ts"), join(root, "src/cli/main.ts"));
  expect((await tieline("version")).stdout).toStartWith("tieline ");
});

test("errors keep their code and exit, whether the bundle threw them or a source", async () => {
  await build();
  const commands = [
    ["send"],
    ["send", "ana", "hello"],
    ["send", "ana", "-f", "/nowhere"],
    ["sedn"],
    ["read"],
    ["daemon", "stop", "--what"],
  ];
  for (const words of commands) {
    const bundled = await tieline(...words);
    const plain = await run(process.execPath, join(checkout, "src/cli/main.ts"), ...words);
    expect(bundled).toEqual(plain);
    expect(bundled.stderr).toStartWith("error ");
    expect(bundled.stderr).not.toContain("INTERNAL");
  }
});

test("the directory it is called in decides nothing about what runs", async () => {
  const clone = join(root, "clone");
  plantBunSettings(clone);
  // Bun by itself obeys the directory, so that the test would fail without the launcher's options.
  expect((await runIn(clone, process.execPath, join(checkout, "src/cli/main.ts"), "version")).stdout).toContain(
    "planted",
  );
  for (const bundled of [false, true]) {
    if (bundled) await build();
    expect((await runIn(clone, join(root, "bin/tieline"), "version")).stdout).toStartWith("tieline ");
    expect((await runIn(clone, join(root, "bin/tieline"), "team", "ls")).stderr).toContain("DAEMON_UNAVAILABLE");
  }
});
