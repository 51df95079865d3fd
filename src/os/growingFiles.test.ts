import { expect, test } from "bun:test";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { growingFilesContract } from "../testing/growingFilesContract.ts";
import { MemoryFiles } from "../testing/simulation/providers/memoryFiles.ts";
import { systemFiles } from "./growingFiles.ts";

growingFilesContract("disk", () => {
  const folder = mkdtempSync(join(tmpdir(), "tl-growing-"));
  mkdirSync(join(folder, "inside"));
  return {
    files: systemFiles,
    path: join(folder, "inside", "lines"),
    outside: join(folder, "lines"),
    append: (path, text) => appendFileSync(path, text),
    remove: (path) => rmSync(path),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
});

growingFilesContract("memory", () => {
  const files = new MemoryFiles();
  return {
    files,
    path: "/inside/lines",
    outside: "/lines",
    append: (path, text) => files.append(path, text),
    remove: (path) => files.remove(path),
    [Symbol.dispose]: () => undefined,
  };
});

test("a tail that was lost in memory is gone, and what follows it is read", () => {
  const files = new MemoryFiles();
  files.append("/inside/lines", "one\ntwo\n");
  files.loseTail("/inside/lines", 2);
  files.append("/inside/lines", "elve\n");
  expect(files.text("/inside/lines")).toBe("one\ntwelve\n");
});
