import { expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ProgramAnswers } from "./programAnswers.ts";

/** A program that counts how often it was run. */
function aProgram(answer: string) {
  const folder = mkdtempSync(join(tmpdir(), "tl-asked-"));
  const path = join(folder, "program");
  const install = (text: string): void => {
    writeFileSync(path, `#!/bin/sh\necho run >>${folder}/runs\n${text}\n`);
    chmodSync(path, 0o755);
  };
  install(answer);
  return {
    asked: { path, question: "--help", env: { PATH: process.env["PATH"]! } },
    install,
    runs: () => readFileSync(join(folder, "runs"), "utf8").trim().split("\n").length,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

test("asks a program once, and again when it is replaced", async () => {
  using program = aProgram('echo "knows $1"');
  const answers = new ProgramAnswers();
  expect(await Promise.all([answers.of(program.asked), answers.of(program.asked)])).toEqual([
    "knows --help\n",
    "knows --help\n",
  ]);
  await answers.of(program.asked);
  expect(program.runs()).toBe(1);
  program.install("echo a newer one");
  expect(await answers.of(program.asked)).toBe("a newer one\n");
  expect(program.runs()).toBe(2);
});

test("ignores an answer with an error, and asks again", async () => {
  using program = aProgram("echo unknown option; exit 1");
  const answers = new ProgramAnswers();
  expect([await answers.of(program.asked), await answers.of(program.asked)]).toEqual([null, null]);
  expect(program.runs()).toBe(2);
});
