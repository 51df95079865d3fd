import { describe, expect, test } from "bun:test";
import { labelledScreens } from "../../testing/screens.ts";
import { classify, type Screen } from "../screen.ts";
import { providers } from "../../compose/providers.ts";

const manifest = providers.screen("gemini");
const idle = labelledScreens().filter(({ provider, state }) => provider === "gemini" && state === "idle");
const fresh = idle.filter(({ file }) => file.includes("idle-fresh"));
const spoken = idle.filter(({ file, draft }) => !draft && !file.includes("idle-fresh"));

const warning = [
  "",
  "⚠  Warning: True color (24-bit) support not detected. Using a terminal with true color enabled will",
  "   result in a better visual experience.",
];

/** Rows that come above all others push them, and the cursor, down. */
function below(rows: readonly string[], { lines, cursor, ...known }: Screen): Screen {
  return {
    ...known,
    lines: [...rows, ...lines].slice(0, lines.length),
    ...(cursor && { cursor: { x: cursor.x, y: cursor.y + rows.length } }),
  };
}

describe("a Gemini CLI that resumes a conversation", () => {
  test.each(fresh.map(({ file, screen }) => [file, screen] as const))(
    "is not ready while the conversation does not show: %s",
    (_file, screen) => {
      expect(classify(manifest, screen)).toMatchObject({ state: "idle" });
      expect(classify(manifest, { ...screen, resuming: true })).toMatchObject({ state: "unknown", rule: "resuming" });
      expect(classify(manifest, below(warning, screen))).toMatchObject({ state: "idle" });
      expect(classify(manifest, { ...below(warning, screen), resuming: true })).toMatchObject({
        state: "unknown",
        rule: "resuming",
      });
      expect(classify(manifest, { ...below(["", "  Executing Hook: tieline"], screen), resuming: true })).toMatchObject(
        { state: "unknown", rule: "resuming" },
      );
    },
  );

  test.each(["  the end of a long answer", "✦ an answer", " > a prompt", "╰──────╯"])(
    "is ready once some of the conversation shows: %p",
    (row) => {
      for (const { screen } of fresh)
        expect(classify(manifest, { ...below([row, "", ...warning], screen), resuming: true })).toMatchObject({
          state: "idle",
        });
    },
  );

  test.each(spoken.map(({ file, screen }) => [file, screen] as const))(
    "is ready once it shows: %s",
    (_file, screen) => {
      expect(classify(manifest, { ...screen, resuming: true })).toMatchObject({ state: "idle" });
    },
  );
});

test(
  "a prompt in the queue is begun with before another can be typed, although nothing spins and the title says " +
    "Ready",
  () => {
    const { screen } = labelledScreens().find(({ file }) => file === "gemini/queued-while-busy.ansi.txt")!;
    const atRest = {
      ...screen,
      title: "◇  Ready (project)",
      lines: screen.lines.map((line) => (line.includes("Thinking...") ? "" : line)),
    };
    expect(classify(manifest, atRest)).toMatchObject({ state: "working", rule: "queued" });
    expect(
      classify(manifest, { ...atRest, lines: atRest.lines.map((line) => (line.includes("Queued") ? "" : line)) }),
    ).toMatchObject({ state: "idle" });
  },
);
