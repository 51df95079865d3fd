import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { maxContentBytes, parseOutboxFile } from "./parse.ts";

const parse = (text: string) => parseOutboxFile(new TextEncoder().encode(text));
const parseValue = (value: unknown) => parse(JSON.stringify(value));

describe("an outbox file", () => {
  test.each([
    { to: "coder", content: "hi" },
    { to: "web:my-coder", content: "hi" },
    { to: "@all", content: "hi", when: "turn" },
    { to: "coder", content: "hi", id: "a1", replyTo: "MSG_BOB_1", when: "interrupt" },
    { broadcast: true, content: " hi\n" },
  ])("is accepted: %j", (value) => {
    expect(parseValue(value)).toEqual({ ok: true, entry: value as never });
  });

  test("fields that we do not know are left out, a sender among them", () => {
    expect(parseValue({ to: "a", content: "x", from: "user" })).toEqual({ ok: true, entry: { to: "a", content: "x" } });
  });

  test.each([
    [null, "not a JSON object"],
    [[{ to: "a", content: "x" }], "not a JSON object"],
    [{ content: "x" }, 'needs either "to" or "broadcast"'],
    [{ to: "a", broadcast: true, content: "x" }, 'needs either "to" or "broadcast"'],
    [{ broadcast: false, content: "x" }, '"broadcast"'],
    [{ to: "a" }, '"content"'],
    [{ to: "a", content: 7 }, '"content"'],
    [{ to: "a", content: " \n" }, '"content": is empty'],
    [{ to: "a", content: "x".repeat(maxContentBytes + 1) }, '"content": is longer than 1 MiB'],
    [{ to: "../a", content: "x" }, '"to": is not an agent\'s name'],
    [{ to: "a\n", content: "x" }, '"to": is not an agent\'s name'],
    [{ to: ["a"], content: "x" }, '"to"'],
    [{ to: "a", content: "x", when: "now" }, '"when"'],
    [{ to: "a", content: "x", id: "" }, '"id"'],
  ])("is refused for good, with the reason: %#", (value, reason) => {
    expect(parseValue(value)).toMatchObject({ ok: false, mayGrow: false, reason: expect.stringContaining(reason) });
  });

  test("cut anywhere, it is half-written and not wrong", () => {
    const bytes = new TextEncoder().encode('{"to":"coder","content":"grün 😀"}');
    for (let length = 0; length < bytes.length; length++) {
      expect(parseOutboxFile(bytes.subarray(0, length))).toMatchObject({ ok: false, mayGrow: true });
    }
  });

  test("any bytes give an answer, never an exception", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => typeof parseOutboxFile(bytes).ok === "boolean"),
    );
  });
});
