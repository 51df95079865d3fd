import { expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lackOfLinux, testUnless } from "../testing/needing.ts";
import { environOf, linkOf, openFilesOf, textOf } from "./processFiles.ts";

testUnless(lackOfLinux)("a process of ours: its variables, its folder, its open files", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "tl-")));
  const file = join(folder, "held");
  await using child = Bun.spawn(["sh", "-c", 'exec 9>"$FILE"; echo ready; read -r _'], {
    cwd: folder,
    env: { PATH: process.env["PATH"]!, FILE: file, PAIR: "a=b", NONE: "" },
    stdin: "pipe",
    stdout: "pipe",
  });
  // It has opened its file by the time at which it says something.
  await child.stdout.getReader().read();
  expect(environOf(child.pid)).toMatchObject({ FILE: file, PAIR: "a=b", NONE: "" });
  expect(linkOf(child.pid, "cwd")).toBe(folder);
  expect(openFilesOf(child.pid)).toContain(file);
  rmSync(folder, { recursive: true });
});

test("knows nothing about a process that does not exist", () => {
  const absent = 2 ** 30;
  expect([environOf(absent), openFilesOf(absent), linkOf(absent, "cwd"), textOf(absent, "stat")]).toEqual([
    {},
    [],
    null,
    "",
  ]);
});
