import { expect, test } from "bun:test";
import { basename } from "node:path";
import { isBareShell } from "./shell.ts";

const bare = (line: string): boolean => {
  const argv = line.split(" ");
  return isBareShell({ command: basename(argv[0]!) }, argv);
};

test.each([
  "bash",
  "-zsh",
  "/bin/bash --norc -i",
  "bash -norc",
  "bash --rcfile setup.sh -i",
  "bash --init-file setup.sh",
  "bash -o vi +o history",
  "bash -s one two",
  "fish -C echo",
  "busybox sh",
])("%s is a prompt", (line) => {
  expect(bare(line)).toBe(true);
});

test.each([
  "sh agent.sh",
  "bash -eo pipefail agent.sh -s",
  "bash -c agent",
  "bash -lc agent",
  "bash --rcfile setup.sh agent.sh",
  "fish --command=agent",
  "busybox sh agent.sh",
  "busybox vi",
  "cat -u",
])("%s is a program", (line) => {
  expect(bare(line)).toBe(false);
});

test("what a shell that is just being started will do is not known yet", () => {
  expect(isBareShell({ command: "sh" }, [])).toBe(false);
});
