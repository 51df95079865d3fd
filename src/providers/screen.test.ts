import { describe, expect, test } from "bun:test";
import { labelledScreens, type LabelledScreen } from "../testing/screens.ts";
import { classify, explainScreen, type Screen, type ScreenManifest } from "./screen.ts";
import { providers } from "../compose/providers.ts";

const manifests = new Map<string, ScreenManifest>(providers.names.map((name) => [name, providers.screen(name)]));
const screens = labelledScreens();
const waiting = new Set(["permission", "question", "dialog", "limited"]);

function read({ provider }: LabelledScreen, screen: Screen) {
  return classify(manifests.get(provider)!, screen);
}

/** The capture with only some of what tmux knows about the pane. */
function knowing(screen: Screen, ...keys: (keyof Screen)[]): Screen {
  return {
    lines: screen.lines,
    ...Object.fromEntries(keys.filter((key) => key in screen).map((key) => [key, screen[key]])),
  };
}

describe("captured screens", () => {
  test("all are read right", () => {
    const wrong: string[] = [];
    const table = new Map<string, Record<string, string>>();
    for (const labelled of screens) {
      const reading = read(labelled, labelled.screen);
      const right = reading.state === labelled.state && reading.draft === labelled.draft;
      if (!right) wrong.push(`${labelled.file}: ${reading.state} draft=${reading.draft} by ${reading.rule}`);
      count(table, labelled, right);
    }
    printTable("right/wrong, state × program", table);
    expect(screens).toHaveLength(321);
    expect(wrong).toEqual([]);
  });

  test("a correction changes a label", () => {
    expect(screens.filter((labelled) => labelled.corrected)).toHaveLength(6);
  });

  test("text alone never makes something else look idle, and is mostly enough", () => {
    const wrong = screens.filter((labelled) => {
      const reading = explainScreen(manifests.get(labelled.provider)!, labelled.screen.lines.join("\n"));
      if (labelled.state !== "idle") expect([labelled.file, reading.state]).not.toEqual([labelled.file, "idle"]);
      return reading.state !== labelled.state || reading.draft !== labelled.draft;
    });
    console.log(
      `text alone: ${screens.length - wrong.length} of ${screens.length} right; not: ` +
        `${wrong.map(({ file }) => file).join(", ")}`,
    );
    expect(wrong.length).toBeLessThan(15);
    for (const labelled of wrong) expect(read(labelled, knowing(labelled.screen)).state).toBe("unknown");
  });

  test.each([
    ["title"],
    ["cursor"],
    ["command"],
    ["title", "cursor"],
    ["title", "command"],
    ["cursor", "command"],
  ] as (keyof Screen)[][])(
    "with only %s and %s known, a waiting program is never idle and a wrong answer is unknown",
    (...keys) => {
      for (const labelled of screens) {
        const { state } = read(labelled, knowing(labelled.screen, ...keys.filter(Boolean)));
        if (state !== labelled.state) expect([labelled.file, state]).toEqual([labelled.file, "unknown"]);
        if (waiting.has(labelled.state)) expect([labelled.file, state]).not.toEqual([labelled.file, "idle"]);
      }
    },
  );

  test("a program that draws its own cursor is read the same with the real cursor hidden", () => {
    const drawing = screens.filter(({ provider }) => !["generic", "shell", "repl"].includes(provider));
    expect(drawing.some(({ provider, state }) => provider === "claude-code" && state === "idle")).toBe(true);
    for (const labelled of drawing) {
      const reading = read(labelled, { ...labelled.screen, cursorHidden: true });
      expect([labelled.file, reading.state, reading.draft]).toEqual([labelled.file, labelled.state, labelled.draft]);
    }
  });

  test("a hidden cursor behind the prompt of a shell is no idle shell", () => {
    const manifest = manifests.get("shell")!;
    const screen = { lines: ["$ "], command: "bash", cursor: { x: 2, y: 0 }, height: 1 };
    expect(classify(manifest, screen).state).toBe("idle");
    expect(classify(manifest, { ...screen, cursorHidden: true }).state).toBe("unknown");
  });

  test("a shell or an editor in the foreground means that the program ended", () => {
    for (const labelled of screens.filter(({ state }) => state === "idle" || state === "working")) {
      for (const command of ["bash", "-zsh", "fish", "vim", "sleep"]) {
        expect([labelled.file, read(labelled, { ...labelled.screen, command }).state]).toEqual([labelled.file, "done"]);
      }
    }
  });

  test("a capture without styles is never read as idle", () => {
    for (const labelled of screens) {
      const lines = labelled.screen.lines.map((line) => Bun.stripANSI(line));
      expect([labelled.file, read(labelled, { ...labelled.screen, lines }).state]).not.toEqual([labelled.file, "idle"]);
    }
  });
});

function count(table: Map<string, Record<string, string>>, { provider, state }: LabelledScreen, right: boolean): void {
  const row = table.get(state) ?? {};
  const [good = 0, bad = 0] = (row[provider] ?? "0/0").split("/").map(Number);
  table.set(state, { ...row, [provider]: right ? `${good + 1}/${bad}` : `${good}/${bad + 1}` });
}

function printTable(title: string, table: Map<string, Record<string, string>>): void {
  const programs = [...new Set(screens.map(({ provider }) => provider))];
  const rows = [...table].map(([state, row]) => [state, ...programs.map((program) => row[program] ?? "–")]);
  const lines = [["", ...programs], ...rows].map((cells) => cells.map((cell) => cell.padEnd(13)).join(""));
  console.log([title, ...lines].join("\n"));
}
