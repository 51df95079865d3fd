import { describe, expect, test } from "bun:test";
import { labelledScreens } from "../../testing/screens.ts";
import { classify, composerHolds, type Screen } from "../screen.ts";
import { providers } from "../../compose/providers.ts";

const captures = new Map(labelledScreens().map((labelled) => [labelled.file.replace(".ansi.txt", ""), labelled]));

function held(file: string, text: string) {
  const { provider, screen } = captures.get(file)!;
  return composerHolds(providers.screen(provider), screen, text);
}

const frame = `\x1b[38;5;244m${"─".repeat(44)}\x1b[39m`;
const claude = (...rows: string[]): Screen => ({
  lines: [frame, ...rows, frame, "  \x1b[38;5;246m? for shortcuts\x1b[39m"],
});
const codex = (...rows: string[]): Screen => ({
  lines: ["\x1b[2m  Worked for 1s\x1b[0m", "", ...rows, "", "  GPT-5.5 default · /home/dev/proj", ""],
});

describe("drafts in captures", () => {
  test.each([
    ["claude-code/draft-typed", "this is a draft that I have not sent yet"],
    ["claude-code/draft-typed-classic", "this is a draft that I have not sent yet"],
    ["claude-code/draft-multiline", "multi\nline draft\nthird"],
    ["claude-code/busy-with-draft-plan-60col", "draft while busy"],
    ["codex/draft-multiline", "line one of a draft\nline two of a draft\nline three"],
    ["codex/draft-multiline-narrow60", "line one of a draft\nline two of a draft\nline three"],
    ["codex/streaming-draft", "draft while busy"],
    ["gemini/draft", "a half-typed draft"],
    ["gemini/streaming-draft-narrow60", "draft while busy"],
    ["opencode/draft", "a half-typed draft"],
    ["opencode/streaming-draft-narrow60", "draft while busy"],
    ["pi/draft", "a half-typed draft"],
  ])("%s", (file, text) => {
    const { provider, screen } = captures.get(file)!;
    expect(classify(providers.screen(provider), screen).composer?.text).toBe(text);
    expect(held(file, text)).toBe("exactly");
    expect(held(file, `${text}\n`)).toBe("exactly");
    expect(held(file, text.slice(1))).toBe("other");
    expect(held(file, `${text} and more`)).toBe("other");
  });

  test("an idle composer without a draft is empty, a dialog is not", () => {
    for (const [file, { state, draft }] of captures) {
      if (state === "idle" && !draft) expect([file, held(file, "hello")]).toEqual([file, "empty"]);
      if (["permission", "question", "dialog"].includes(state))
        expect([file, held(file, "hello")]).not.toEqual([file, "exactly"]);
    }
  });
});

describe("the text in a composer", () => {
  const manifest = providers.screen("claude-code");

  test("a wrapped text is joined", () => {
    const screen = claude(
      "❯\u00a0[MSG_USER_7f3a91c2 from user] please look",
      "  at the login test, it fails on Safari",
      "  [end MSG_USER_7f3a91c2]\x1b[7m \x1b[0m",
    );
    const text =
      "[MSG_USER_7f3a91c2 from user] please look at the login test, it fails on Safari\n[end MSG_USER_7f3a91c2]";
    expect(composerHolds(manifest, screen, text)).toBe("exactly");
    expect(classify(manifest, screen).composer?.text).toStartWith(
      "[MSG_USER_7f3a91c2 from user] please look at the login test",
    );
  });

  test("wide characters, cut words and joined emoji", () => {
    const text = "日本語のテキスト 👩‍👩‍👧 naïve";
    expect(composerHolds(manifest, claude("❯\u00a0日本語のテキ", "  スト 👩‍👩‍👧 nai\u0308ve"), text)).toBe("exactly");
  });

  test("a suggestion behind a text does not belong to the text", () => {
    expect(composerHolds(manifest, claude("❯\u00a0fix\x1b[2m the tests\x1b[0m"), "fix")).toBe("exactly");
    expect(composerHolds(manifest, claude("❯\u00a0\x1b[7mf\x1b[0;2mix the tests\x1b[0m"), "fix the tests")).toBe(
      "empty",
    );
  });

  test("Claude Code's collapsed paste counts by its lines", () => {
    const mark = claude("❯\u00a0[Pasted text #3 +4 lines]\x1b[7m \x1b[0m");
    expect(composerHolds(manifest, mark, "a\nb\nc\nd\ne")).toBe("collapsed");
    expect(composerHolds(manifest, mark, "a\nb\nc")).toBe("other");
    expect(composerHolds(manifest, claude("❯\u00a0[Pasted text #3 +4 lines] hm"), "a\nb\nc\nd\ne")).toBe("other");
    expect(
      composerHolds(manifest, claude("❯\u00a0[Pasted text #3 +4 lines][Pasted text #4 +4 lines]"), "a\nb\nc\nd\ne"),
    ).toBe("other");
    expect(composerHolds(manifest, claude("❯\u00a0[Pasted text #1]"), "x".repeat(901))).toBe("collapsed");
  });

  test("Codex's collapsed paste counts by its characters", () => {
    const manifest = providers.screen("codex");
    const mark = codex("\x1b[1m›\x1b[0m [Pasted Content 1200 chars]");
    expect(composerHolds(manifest, mark, "é".repeat(1200))).toBe("collapsed");
    expect(composerHolds(manifest, mark, "é".repeat(1199))).toBe("other");
    expect(composerHolds(manifest, codex("\x1b[1m›\x1b[0m \x1b[2mAsk Codex to do anything\x1b[0m"), "x")).toBe("empty");
  });

  test("Gemini CLI's collapsed paste counts by its units of UTF-16", () => {
    const mark = { lines: ["─".repeat(40), " > [Pasted Text: 1200 chars]", "", " /home/dev/proj"] };
    expect(composerHolds(providers.screen("gemini"), mark, "🎉".repeat(600))).toBe("collapsed");
    expect(composerHolds(providers.screen("gemini"), mark, "🎉".repeat(1200))).toBe("other");
  });

  test("without a composer nothing is held", () => {
    expect(composerHolds(manifest, { lines: ["$ "] }, "")).toBe("other");
    expect(composerHolds(providers.screen("generic"), { lines: ["> x"] }, "x")).toBe("other");
  });
});
