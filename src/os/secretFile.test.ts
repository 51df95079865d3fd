import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readSecret, secretIn, writeSecret } from "./secretFile.ts";

const secret = "0123456789abcdef0123456789abcdef0123456789abcdef";

describe("a secret file", () => {
  let dir: string;
  let path: string;
  let notes: string[];
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "tl-secret-"));
    path = join(dir, "user.token");
    notes = [];
  });
  afterEach(() => rmSync(dir, { recursive: true }));
  const found = (): string =>
    secretIn(
      path,
      () => secret,
      (note) => void notes.push(note),
    );

  test("is made once, readable by its owner alone, and said to be new", () => {
    expect(found()).toBe(secret);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(notes).toEqual([`made a new secret in ${path}`]);
    expect(
      secretIn(
        path,
        () => "another".repeat(6),
        () => undefined,
      ),
    ).toBe(secret);
  });

  test.each(["", "\n", "  \n"])("without content (%j) is no secret: a new one replaces it", (content) => {
    writeFileSync(path, content, { mode: 0o600 });
    expect(readSecret(path)).toBeNull();
    expect(found()).toBe(secret);
    expect(readFileSync(path, "utf8")).toBe(`${secret}\n`);
  });

  test.each(["short", "\0".repeat(48), `${secret}\n${secret}`])(
    "with damaged content (%j) is refused and stays as it is",
    (content) => {
      writeFileSync(path, content, { mode: 0o600 });
      expect(found).toThrow(
        expect.objectContaining({ code: "HOME_UNSAFE", remedy: expect.stringContaining(`rm ${path}`) }),
      );
      expect(readFileSync(path, "utf8")).toBe(content);
    },
  );

  test("that is a link is refused", () => {
    writeFileSync(join(dir, "elsewhere"), secret, { mode: 0o600 });
    symlinkSync(join(dir, "elsewhere"), path);
    expect(found).toThrow(expect.objectContaining({ code: "FILE_REFUSED" }));
  });

  test("never holds an empty or short secret", () => {
    expect(() => writeSecret(path, "")).toThrow("at least 32");
    expect(existsSync(path)).toBe(false);
  });
});
