import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { linesOf, oneLine, visible, visibleJson } from "./visible.ts";

/** What a terminal obeys, and what no reader sees. */
const dangerous = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/u;
const anyText = fc.string({ unit: "binary", maxLength: 60 });

describe("untrusted text", () => {
  test.each([
    ["\u001b[2J", "␛[2J"],
    ["\u001b]52;c;cHduZWQ=\u0007", "␛]52;c;cHduZWQ=␇"],
    ["\u009b2J", "⟨U+009B⟩2J"],
    ["safe\rforged", "safe␍forged"],
    ["a\bb\u007f", "a␈b␡"],
    ["user\u202egnp.exe", "user⟨U+202E⟩gnp.exe"],
    ["pass\u200bword", "pass⟨U+200B⟩word"],
    ["a\u200db", "a⟨U+200D⟩b"],
    ["x\u{e0041}", "x⟨U+E0041⟩"],
    ["😀\ufe0f\ufe01\ufe02", "😀\ufe0f⟨U+FE01⟩⟨U+FE02⟩"],
    ["\u3164", "⟨U+3164⟩"],
  ])("%j is shown by name", (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  test.each([
    "plain\n\ttext",
    "naïve Ünïcödé",
    "日本語 한국어 עברית عربى",
    "👩‍💻 ⚠️ 1️⃣ 🏳️‍🌈 👍🏽",
    "می‌خواهم",
    "क्‍ष",
    "葛\u{e0100}",
  ])("%j is left as it is", (text) => {
    expect(visible(text)).toBe(text);
  });

  test("nothing that steers a terminal or hides is left of any text, and what is safe stays so", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const shown = visible(text);
        expect(shown).not.toMatch(dangerous);
        expect(visible(shown)).toBe(shown);
        if (!/[^\n\t\x20-\x7e]/.test(text)) expect(shown).toBe(text);
      }),
    );
  });

  test("one line is one line, whatever is in it", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(anyText, fc.constantFrom("\n", "\r\n", "\r", "\u2028", "\u0085", "\t"))),
        (parts) => {
          const line = oneLine(parts.join(""));
          expect(line).not.toMatch(/[\n\r\t\u2028\u2029\u0085]/);
          expect(line).not.toMatch(dangerous);
          expect(oneLine(line)).toBe(line);
        },
      ),
    );
    expect(oneLine("one\r\n  two\nthree\tfour")).toBe("one ⏎ two ⏎ three four");
  });

  test("lines begin at newlines only", () => {
    expect(linesOf("one\r\ntwo\nthree\rfour")).toEqual(["one", "two", "three\rfour"]);
  });

  test("JSON says the same to a parser, and nothing to a terminal", () => {
    fc.assert(
      fc.property(fc.dictionary(anyText, anyText), (value) => {
        const json = visibleJson(JSON.stringify(value));
        expect(json).not.toMatch(dangerous);
        expect(JSON.parse(json)).toEqual(value);
      }),
    );
  });
});
