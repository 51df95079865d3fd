import { describe, expect, test } from "bun:test";
import { asTielineError, TielineError } from "./errors.ts";

const systemError = (code: string, message: string): Error => Object.assign(new Error(`${code}: ${message}`), { code });

describe("anything thrown as a TielineError", () => {
  test.each([
    ["ENOSPC", "STORE_UNAVAILABLE", "the disk is full"],
    ["EDQUOT", "STORE_UNAVAILABLE", "quota"],
    ["EIO", "STORE_UNAVAILABLE", "I/O error"],
    ["EROFS", "STORE_UNAVAILABLE", "read-only"],
    ["EMFILE", "TOO_MANY_FILES", "this process may not open more files"],
    ["ENFILE", "TOO_MANY_FILES", "the machine cannot open more files"],
  ])("%s is %s", (system, code, words) => {
    const error = asTielineError(systemError(system, "said the system"));
    expect(error).toMatchObject({ code, operands: { cause: system } });
    expect(error.message).toContain(words);
    expect(error.message).toContain("said the system");
    expect(error.remedy).not.toContain("fault in Tieline");
  });

  test("one of ours stays as it is, and anything unknown is INTERNAL with its cause", () => {
    const own = new TielineError("CONFLICT", "both", { remedy: "choose" });
    expect(asTielineError(own)).toBe(own);
    const thrown = systemError("EWHATEVER", "odd");
    expect(asTielineError(thrown)).toMatchObject({ code: "INTERNAL", cause: thrown });
    expect(asTielineError("text")).toMatchObject({ code: "INTERNAL", message: "text" });
  });
});
