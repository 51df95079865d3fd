import { describe, expect, test } from "bun:test";
import { genericScreens, labelledScreens } from "../../testing/screens.ts";
import { classify, composerHolds, withPrompt, type Screen } from "../screen.ts";
import { providers } from "../../compose/providers.ts";

const manifest = providers.screen("generic");
const screens = genericScreens();
const screenIn = (name: string): Screen => screens.find(({ file }) => file === `generic/${name}.ansi.txt`)!.screen;

describe("programs without rules of their own", () => {
  test("there are screens of several programs", () => {
    expect(screens.length).toBeGreaterThanOrEqual(20);
  });

  test.each(screens.map((one) => [one.file, one] as const))("%s is read right", (_file, { screen, state, draft }) => {
    const reading = classify(manifest, screen);
    expect([reading.rule, reading.state, reading.draft]).toEqual([reading.rule, state, draft]);
  });

  test("a screen that is not free stays so where less is known, and none is free without colours", () => {
    for (const { file, screen, state, draft } of screens) {
      const bare = classify(manifest, { lines: screen.lines });
      if (state !== "idle" || draft) expect([file, bare.state === "idle" && !bare.draft]).toEqual([file, false]);
      const colourless = classify(manifest, {
        ...screen,
        lines: screen.lines.map((line) => line.replaceAll(/\x1b\[[0-9;]*m/g, "")),
      });
      expect([file, colourless.state === "idle" && !colourless.draft]).toEqual([file, false]);
    }
  });

  test("where a hidden cursor is says nothing", () => {
    const lines = ["banner", "anything> ", ""];
    expect(classify(manifest, { lines, cursor: { x: 10, y: 1 }, cursorHidden: false, height: 3 }).state).toBe("idle");
    expect(classify(manifest, { lines, cursor: { x: 10, y: 1 }, cursorHidden: true, height: 3 }).state).toBe("unknown");
  });

  test(
    "programs that have rules are not free to type into without them where they are not with them, cursor " +
      "hidden or not",
    () => {
      // The process shows that a program exited.
      const others = labelledScreens().filter(({ state, draft }) => state !== "done" && (state !== "idle" || draft));
      expect(others.length).toBeGreaterThan(100);
      // Menus that a program shows only with its cursor hidden.
      const hiding = ["gemini/login.ansi.txt", "gemini/login-wide200.ansi.txt"];
      for (const { file, screen } of others) {
        for (const cursorHidden of hiding.includes(file) ? [true] : [true, false]) {
          const { state, draft, rule } = classify(manifest, { ...screen, cursorHidden });
          expect([file, rule, state === "idle" && !draft]).toEqual([file, rule, false]);
        }
      }
    },
  );

  test.each(["Press any key to continue...", "Press Enter to continue", "(Use arrow keys, Enter to select)"])(
    "%j waits for a key",
    (line) => {
      const screen = { lines: ["Welcome", line, ""], cursor: { x: 0, y: 2 }, cursorHidden: false, height: 3 };
      expect(classify(manifest, screen)).toMatchObject({ state: "dialog" });
    },
  );

  test("a program that announces its prompt waits for text", () => {
    const screen = { lines: ["Press Enter to send", "bot> "], cursor: { x: 5, y: 1 }, cursorHidden: false, height: 2 };
    expect(classify(manifest, screen)).toMatchObject({ state: "idle", draft: false });
  });

  test("a full-screen program is idle only where its profile says what its prompt looks like", () => {
    const screen = { lines: ["notes", "chat> "], cursor: { x: 6, y: 1 }, alternate: true, height: 2 };
    expect(classify(manifest, screen)).toMatchObject({ state: "unknown", rule: "full-screen" });
    expect(classify(withPrompt(manifest, "^chat> "), screen)).toMatchObject({ state: "idle", draft: false });
  });

  test.each([
    "Enter your Anthropic API key: ",
    "Password: ",
    "Token? ",
    "E-mail address: ",
    "Verification code: ",
    "Username: ",
    "Paste your access key here: ",
  ])("%j is a question", (line) => {
    expect(classify(manifest, { lines: [line], cursor: { x: line.length, y: 0 }, height: 1 }).state).toBe("question");
  });

  test.each(["You: ", "bot> ", "> ", "message: "])("%j is a prompt", (line) => {
    expect(classify(manifest, { lines: [line], cursor: { x: line.length, y: 0 }, height: 1 }).state).toBe("idle");
  });
});

describe("our own text in a frame", () => {
  const text =
    "[MSG_USER_7f3a91c2 from user]\nplease look at the login test\n[end MSG_USER_7f3a91c2 · reply: tieline " +
    "reply MSG_USER_7f3a91c2]";
  const lines = Array.from({ length: 28 }, (_, at) => `line number ${at + 1} of the text`);
  const long = [
    "[MSG_USER_7f3a91c2 from user]",
    ...lines,
    "[end MSG_USER_7f3a91c2 · reply: tieline reply MSG_USER_7f3a91c2]",
  ].join("\n");

  test.each(["qwen-pasted", "continue-pasted", "grok-pasted"])("%s holds it, and nothing else", (name) => {
    expect(composerHolds(manifest, screenIn(name), text)).toBe("exactly");
    expect(composerHolds(manifest, screenIn(name), `${text}!`)).toBe("other");
    expect(composerHolds(manifest, screenIn(name), text.replace("login", "logon"))).toBe("other");
  });

  test.each(["qwen-folded", "continue-folded"])("%s holds it as one mark of its size", (name) => {
    expect(composerHolds(manifest, screenIn(name), long)).toBe("collapsed");
    expect(composerHolds(manifest, screenIn(name), `${long}\nmore\nand more`)).toBe("other");
  });

  test.each(["qwen-draft", "continue-draft", "grok-draft"])("%s holds something else", (name) => {
    expect(composerHolds(manifest, screenIn(name), text)).toBe("other");
  });

  test.each(["qwen-idle", "continue-idle", "grok-idle"])("%s is empty", (name) => {
    expect(composerHolds(manifest, screenIn(name), text)).toBe("empty");
  });
});
