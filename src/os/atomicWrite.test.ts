import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atomicUpdate, atomicWrite } from "./atomicWrite.ts";

describe("atomicWrite", () => {
  let dir: string;
  beforeEach(() => (dir = mkdtempSync(join(tmpdir(), "tl-atomic-"))));
  afterEach(() => rmSync(dir, { recursive: true }));

  test("replaces the content, sets the mode and leaves no draft", () => {
    const path = join(dir, "file");
    writeFileSync(path, "old", { mode: 0o644 });
    atomicWrite(path, "new", { mode: 0o600 });
    expect(readFileSync(path, "utf8")).toBe("new");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(dir)).toEqual(["file"]);
  });

  test("the umask does not change the mode", () => {
    const before = process.umask(0o077);
    try {
      atomicWrite(join(dir, "program"), "#!/bin/sh\n", { mode: 0o755 });
    } finally {
      process.umask(before);
    }
    expect(statSync(join(dir, "program")).mode & 0o777).toBe(0o755);
  });

  test("does not write through a link in the place of its draft", () => {
    const [path, victim] = [join(dir, "file"), join(dir, "victim")];
    writeFileSync(victim, "untouched");
    symlinkSync(victim, `${path}.${process.pid}.new`);
    atomicWrite(path, "new");
    expect(readFileSync(victim, "utf8")).toBe("untouched");
    expect(readFileSync(path, "utf8")).toBe("new");
  });

  test("leaves the old content and no draft when the rename fails", () => {
    const path = join(dir, "missing", "file");
    expect(() => atomicWrite(path, "new")).toThrow("ENOENT");
    expect(readdirSync(dir)).toEqual([]);
  });

  test("updates only what differs in content or mode", () => {
    const path = join(dir, "program");
    atomicUpdate(path, "one", 0o700);
    const { ino } = statSync(path);
    atomicUpdate(path, "one", 0o700);
    expect(statSync(path).ino).toBe(ino);
    atomicUpdate(path, "one", 0o755);
    expect(statSync(path).mode & 0o777).toBe(0o755);
    atomicUpdate(path, "two", 0o755);
    expect(readFileSync(path, "utf8")).toBe("two");
  });

  test("updates a link by putting the file itself there", () => {
    const [path, victim] = [join(dir, "file"), join(dir, "victim")];
    writeFileSync(victim, "same");
    symlinkSync(victim, path);
    atomicUpdate(path, "same", 0o600);
    expect(lstatSync(path).isFile()).toBe(true);
  });
});
