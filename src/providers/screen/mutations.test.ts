/** The captures changed as other versions, widths, themes and transcripts would change them. */
import { describe, expect, test } from "bun:test";
import { labelledScreens, type LabelledScreen } from "../../testing/screens.ts";
import { classify, type Screen, type ScreenManifest } from "../screen.ts";
import { findComposer, visibleRows } from "./composer.ts";
import { parseRows, styleAt, type Style } from "./parse.ts";
import { providers } from "../../compose/providers.ts";

const manifests = new Map<string, ScreenManifest>(providers.names.map((name) => [name, providers.screen(name)]));
const screens = labelledScreens();
const waiting = ["permission", "question", "dialog", "limited"];

function expectSame(labelled: LabelledScreen, screen: Screen): void {
  const { state, draft, rule } = classify(manifests.get(labelled.provider)!, screen);
  expect({ file: labelled.file, state, draft, rule }).toEqual({
    file: labelled.file,
    state: labelled.state,
    draft: labelled.draft,
    rule,
  });
}

function mapLines(labelled: LabelledScreen, change: (line: string) => string): Screen {
  return { ...labelled.screen, lines: labelled.screen.lines.map(change) };
}

describe("themes", () => {
  test.each([["38;5;240"], ["38;2;102;102;102"], ["90"], ["38;5;59"]])("Claude Code's greys as %s", (grey) => {
    for (const labelled of screens.filter(({ provider }) => provider === "claude-code")) {
      expectSame(
        labelled,
        mapLines(labelled, (line) => line.replaceAll("38;5;246", grey)),
      );
    }
  });

  test("all true colours inverted, as in a light theme", () => {
    const invert = (_: string, plane: string, ...rgb: string[]) =>
      `${plane};2;${rgb
        .slice(0, 3)
        .map((value) => 255 - Number(value))
        .join(";")}`;
    for (const labelled of screens) {
      expectSame(
        labelled,
        mapLines(labelled, (line) => line.replace(/([34]8);2;(\d+);(\d+);(\d+)/g, invert)),
      );
    }
  });

  test("indexed colours as true colours", () => {
    const convert = (_: string, plane: string, index: string) => {
      const level = Number(index) >= 232 ? (Number(index) - 232) * 10 + 8 : undefined;
      return level === undefined ? `${plane};2;${index};90;200` : `${plane};2;${level};${level};${level}`;
    };
    for (const labelled of screens)
      expectSame(
        labelled,
        mapLines(labelled, (line) => line.replace(/([34]8);5;(\d+)/g, convert)),
      );
  });

  test("without colours, as NO_COLOR asks for, nothing else becomes idle", () => {
    for (const labelled of screens.filter(({ state, draft }) => state !== "idle" || draft)) {
      const { state, draft } = classify(manifests.get(labelled.provider)!, mapLines(labelled, withoutColours));
      expect([labelled.file, state, draft]).not.toEqual([labelled.file, "idle", false]);
    }
  });
});

describe("widths", () => {
  test.each([[20], [30], [40], [60], [80]])("cut at %d columns nothing else becomes idle", (columns) => {
    for (const labelled of screens.filter(({ state }) => state !== "idle")) {
      const { state } = classify(
        manifests.get(labelled.provider)!,
        mapLines(labelled, (line) => cut(line, columns)),
      );
      expect([labelled.file, state]).not.toEqual([labelled.file, "idle"]);
    }
  });

  test.each([[40], [60], [80]])("cut at %d columns a dialog is still one", (columns) => {
    for (const labelled of screens.filter(({ state }) => waiting.includes(state))) {
      const { state } = classify(
        manifests.get(labelled.provider)!,
        mapLines(labelled, (line) => cut(line, columns)),
      );
      expect([labelled.file, [...waiting, "unknown"]]).toEqual([labelled.file, expect.arrayContaining([state])]);
    }
  });
});

test("without its status line, which tells whether a turn runs, opencode is never idle", () => {
  for (const labelled of screens.filter(({ provider, state }) => provider === "opencode" && state === "working")) {
    const bottom = labelled.screen.lines.findLastIndex((line) => Bun.stripANSI(line).includes("╹▀"));
    const { state } = classify(manifests.get("opencode")!, {
      ...labelled.screen,
      lines: labelled.screen.lines.slice(0, bottom + 1),
    });
    expect([labelled.file, state]).not.toEqual([labelled.file, "idle"]);
  }
});

describe("transcripts", () => {
  const quoted = [
    "  The dialog asked:",
    "  Do you want to proceed?",
    "  ❯ 1. Yes",
    "    2. No, and tell Claude what to do differently (esc)",
    "  Enter to select · ↑/↓ to navigate · Esc to cancel",
    "  Would you like to run the following command?",
    "  › 1. Yes, proceed (y)",
    "  Press enter to confirm or esc to cancel",
    "  │ ● 1. Allow once   │",
    "  ┃  △ Permission required",
    "  Waiting for permission…",
    "  ✻ Fermenting… (2s · esc to interrupt)",
    "  • Working (2s • esc to interrupt)",
    "  ⠋ Working... (esc to cancel, 3s)",
    "  1. Stop and wait for limit to reset",
    "  To continue this session, run: codex resume 0",
    "  Resume this session with:",
  ];

  test("words of dialogs and spinners above the composer change nothing", () => {
    for (const labelled of screens) {
      // A spinner or a notice belongs to the composer's surroundings, so the quote is above those.
      const notice = classify(manifests.get(labelled.provider)!, labelled.screen).rule === "removed-characters";
      if (labelled.state === "working" || notice) expectSame(labelled, withTranscript(labelled, quoted, surroundings));
      else if (labelled.state === "idle") expectSame(labelled, withTranscript(labelled, quoted, 0));
    }
  });

  test("an idle composer quoted above a dialog does not make it idle", () => {
    const idle = [
      "",
      "─".repeat(40),
      "❯\u00a0",
      "─".repeat(40),
      "  › Ask Codex to do anything",
      "",
      "  > Type your message",
      "",
    ];
    for (const labelled of screens.filter(({ state }) => waiting.includes(state))) {
      const choice = labelled.screen.lines.findLastIndex((line) => /^[\s│┃]*[❯›»●>△] /u.test(Bun.stripANSI(line)));
      for (let row = 0; row <= choice; row++) {
        const lines = insert(labelled.screen.lines, row, idle);
        const { state } = classify(manifests.get(labelled.provider)!, {
          lines,
          ...(labelled.screen.title && { title: labelled.screen.title }),
        });
        expect([labelled.file, row, state]).not.toEqual([labelled.file, row, "idle"]);
      }
    }
  });
});

describe("other versions", () => {
  const claude = manifests.get("claude-code")!;
  const colour = (text: string) => `\x1b[38;5;153m${text}\x1b[39m`;
  const grey = (text: string) => `\x1b[38;5;246m${text}\x1b[39m`;

  test("the menu of a reached limit", () => {
    const lines = [
      "\x1b[38;5;231m⏺\x1b[39m Working on it",
      "",
      "─".repeat(60),
      " What do you want to do?",
      "",
      ` ${colour("❯")} ${grey("1.")} ${colour("Stop and wait for limit to reset")}`,
      `   ${grey("2.")} Upgrade your plan`,
      "",
      ` ${grey("Enter to confirm · Esc to cancel")}`,
    ];
    expect(classify(claude, { lines })).toMatchObject({ state: "limited", draft: false, rule: "rate-limit-menu" });
  });

  test("a title with a busy mark outranks a bright prompt", () => {
    const lines = [
      grey("─".repeat(60)),
      "❯\u00a0\x1b[7m \x1b[0m",
      grey("─".repeat(60)),
      `  ${grey("? for shortcuts")}`,
    ];
    expect(classify(claude, { lines, title: "✳ api" }).state).toBe("idle");
    expect(classify(claude, { lines, title: "⠐ api" }).state).toBe("working");
  });

  test("a prompt that is free between two tool calls, or while work continues in the background, is not idle", () => {
    const box = (above: string) => [
      above,
      "",
      grey("─".repeat(60)),
      "❯\u00a0\x1b[7m \x1b[0m",
      grey("─".repeat(60)),
      `  ${grey("? for shortcuts")}`,
    ];
    for (const above of [
      `${colour("✻")} Running the tests… (12s · 3 tools)`,
      `${colour("✻")} Waiting for 2 workflows to finish`,
    ]) {
      expect([above, classify(claude, { lines: box(above) }).state]).toEqual([above, "working"]);
    }
    for (const above of [`${grey("✻")} Worked for 12s`, "  Waiting for 2 workflows to finish"]) {
      expect([above, classify(claude, { lines: box(above) }).state]).toEqual([above, "idle"]);
    }
  });

  test("the session navigator and the shell mode are not an empty composer", () => {
    const frame = grey("─".repeat(60));
    const box = (composer: string, footer: string) =>
      classify(claude, { lines: [frame, composer, frame, grey(footer)] });
    expect(box("❯\u00a0\x1b[7md\x1b[0;2mescribe a task for a new session\x1b[0m", "  Enter to view").state).toBe(
      "dialog",
    );
    expect(box('❯\u00a0\x1b[7mT\x1b[0;2mry "fix the tests"\x1b[0m', "  ? for shortcuts")).toMatchObject({
      state: "idle",
      draft: false,
    });
    expect(
      classify(claude, { lines: [frame, "!\u00a0\x1b[7m \x1b[0m", frame, grey("  ! for shell mode")] }).draft,
    ).toBe(true);
  });

  test("Codex with its other prompt and bullet", () => {
    for (const labelled of screens.filter(({ provider }) => provider === "codex")) {
      expectSame(
        labelled,
        mapLines(labelled, (line) => line.replaceAll("›", "»").replaceAll("◦", "•")),
      );
    }
  });
});

/** How many paragraphs above the composer can belong to it: a spinner with its tip, queued messages, a notice. */
const surroundings = 4;

/** The capture with rows of plain text above the composer, and the cursor moved along. */
function withTranscript({ screen, provider }: LabelledScreen, text: readonly string[], paragraphs: number): Screen {
  const composer = findComposer(manifests.get(provider)!.composer!, visibleRows(screen), screen)!;
  const added = ["", ...text, ""];
  const { cursor, height, ...rest } = screen;
  return {
    ...rest,
    lines: insert(screen.lines, paragraphsAbove(screen, composer.from, paragraphs), added),
    ...(cursor && height && { cursor: { ...cursor, y: cursor.y + added.length }, height: height + added.length }),
  };
}

function paragraphsAbove({ lines }: Screen, from: number, paragraphs: number): number {
  const rows = parseRows(lines);
  let at = from;
  for (let blanks = 0; at > 0 && blanks < paragraphs; at--) if (rows[at - 1]!.text.trim() === "") blanks++;
  return at;
}

function insert(lines: readonly string[], at: number, added: readonly string[]): string[] {
  const row = parseRows(lines)[at - 1];
  const restored = row ? sgr(styleAt(row, row.text.length)) : "\x1b[0m";
  const plain = added.map((line, index) => (index === 0 ? `\x1b[0m${line}` : line));
  return [...lines.slice(0, at), ...plain.slice(0, -1), `${plain.at(-1) ?? ""}${restored}`, ...lines.slice(at)];
}

function sgr({ fg, bg, bold, dim, italic, reverse }: Style): string {
  const colour = (plane: string, value: string) => (value.includes(";") ? `${plane};${value}` : value);
  const codes = [
    "0",
    bold && "1",
    dim && "2",
    italic && "3",
    reverse && "7",
    fg && colour("38", fg),
    bg && colour("48", bg),
  ];
  return `\x1b[${codes.filter(Boolean).join(";")}m`;
}

/** Bold, dim and reversed text stay as they are. */
function withoutColours(line: string): string {
  // oxlint-disable-next-line no-control-regex -- escape sequences are what this changes
  return line.replace(/\x1b\[([0-9;]*)m/g, (_, codes: string) => {
    const kept = codes
      .replace(/[34]8;(?:5;\d+|2;\d+;\d+;\d+)/g, "39")
      .split(";")
      .filter((code) => Number(code) < 30);
    return kept.length === 0 ? "" : `\x1b[${kept.join(";")}m`;
  });
}

/** The first columns of a line, with all of its escapes. */
function cut(line: string, columns: number): string {
  let left = columns;
  // oxlint-disable-next-line no-control-regex -- escape sequences are kept whole
  return line.replace(/(\x1b\[[0-9;]*m)|([\s\S])/gu, (_, escape: string | undefined, character: string) => {
    if (escape !== undefined) return escape;
    left -= Bun.stringWidth(character);
    return left >= 0 ? character : "";
  });
}
