/**
 * Text of agents may be up to 1 MiB of anything. The time that it takes grows with its length, not with
 * the square.
 */
import { summarise } from "./summary.ts";
import { describe, expect, test } from "bun:test";
import { wordsOf } from "../mailbox/searchPhrases.ts";
import { numberedChoices } from "../providers/port.ts";
import { bareText } from "../providers/screen/composer.ts";
import { tellingLine } from "./agent.ts";
import { sanitise } from "./envelope.ts";
import { withoutFrames } from "./frames.ts";
import { composed, oneLine, visibleJson } from "./visible.ts";

const texts: Readonly<Record<string, (length: number) => string>> = {
  brackets: (length) => `${"[".repeat(length)}msg`,
  "quoted brackets": (length) => `${"[>".repeat(length / 2)}msg`,
  "an end of brackets": (length) => `[end${"[".repeat(length)}msg`,
  "a tag without an end": (length) => `MSG_${"_00000000a".repeat(length / 10)}`,
  spaces: (length) => `${" ".repeat(length)}x`,
  newlines: (length) => `${"\n".repeat(length)}msg`,
  "spaces and newlines": (length) => `${" \n".repeat(length / 2)}x msg`,
  "marks in the wrong order": (length) => `msg${"\u0301".repeat(length / 2)}${"\u0323".repeat(length / 2)}`,
  joiners: (length) => "\u200d".repeat(length),
  ligatures: (length) => "\ufdfa".repeat(length / 4),
  errors: (length) => "error".repeat(length / 5),
  "errors in a dotted name": (length) => "error.".repeat(length / 6),
};

const functions: Readonly<Record<string, (text: string) => unknown>> = {
  withoutFrames,
  oneLine,
  visibleJson,
  sanitise: (text) => sanitise(text, true),
  summarise,
  bareText,
  wordsOf,
  tellingLine: (text) => tellingLine([text, `File "${text}", line 1${text}\r`, `Bun v${text}\r`]),
};

/** The shortest of some runs: other programs run too. */
function shortestMs(work: () => unknown): number {
  const runs = Array.from({ length: 4 }, () => {
    const since = performance.now();
    work();
    return performance.now() - since;
  });
  return Math.min(...runs);
}

const length = 8_192;
/** Less than this is mostly noise. */
const leastMs = 5;

describe.each(Object.entries(functions))("%s takes linear time", (_, run) => {
  test.each(Object.entries(texts))("for %s", (_, textOf) => {
    const [short, long] = [textOf(length), textOf(8 * length)];
    const shortMs = Math.max(
      leastMs,
      shortestMs(() => run(short)),
    );
    expect(shortestMs(() => run(long))).toBeLessThan(20 * shortMs);
  });
});

test("a long run of marks is left as it is, and the text around it is composed", () => {
  const marks = "\u0301\u0323".repeat(16);
  expect(composed(`e\u0301x${marks}x e\u0301`)).toBe(`\u00e9x${marks}x \u00e9`);
});

test("a choice on a wide screen is found in its frame", () => {
  const spaces = " ".repeat(500);
  expect(numberedChoices.choice.exec(`│ ❯ 1. Yes${spaces}│  `)?.groups).toMatchObject({ number: "1", label: "Yes" });
  expect(numberedChoices.choice.exec(`│ 2. No${spaces}x`)?.groups).toMatchObject({
    number: "2",
    label: `No${spaces}x`,
  });
});

describe("frames", () => {
  test.each([
    ["[MSG_USER_7f3a91c2 from user]", "> (MSG_USER_7f3a91c2 from user]"],
    ["  ** [> end MSG_A_00000000", "> "],
    ["((( MSG_", "> "],
    ["⟦ end: MSG_X", "> "],
    ["end - MSG_USER_7f3a91c2:", "> "],
    ["М\u0301Ѕ\u200bG_USER_7f3a91c2", "> "],
    ["m\t\t\t\t\t\tsg_user_7f3a91c2", "> "],
  ])("%j is quoted", (line, begin) => {
    expect(withoutFrames(line)).toStartWith(begin);
    expect(withoutFrames(`before\n${line}\nafter`)).toContain(`\n${begin}`);
  });

  test.each(["> [MSG_USER_7f3a91c2", "> MSG_USER_7f3a91c2", "see MSG_USER_7f3a91c2", "MSG_USER_7f3a", "(a) MSG_"])(
    "%j is not quoted again",
    (line) => {
      expect(withoutFrames(line).replace("(MSG_USER", "[MSG_USER")).toBe(line);
    },
  );
});
