import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandLine } from "../../testing/commandLine.ts";
import { classify } from "../../providers/screen.ts";
import { parse } from "../input/args.ts";
import explain from "./explain.ts";
import { plain, type Terminal } from "../output/terminal.ts";
import { labelledScreens, type LabelledScreen } from "../../testing/screens.ts";
import { providers } from "../../compose/providers.ts";

const fixtures = join(import.meta.dir, "../../../fixtures/screens");
const screens = labelledScreens();

/** The first capture of each program and state: what the flags carry must be enough to read all of them. */
const samples = [...Map.groupBy(screens, ({ provider, state }) => `${provider} ${state}`).values()].map(
  ([first]) => first!,
);

function flagsFor({ provider, file, screen }: LabelledScreen): string[] {
  const { title, cursor, command, copyMode } = screen;
  return [
    ...["--provider", provider, "--screen", join(fixtures, file)],
    ...(title === undefined ? [] : ["--title", title]),
    ...(cursor === undefined ? [] : ["--cursor", `${cursor.x},${cursor.y}`]),
    ...(command === undefined ? [] : ["--command", command]),
    ...(copyMode ? ["--copy-mode"] : []),
  ];
}

describe("tieline explain --screen", () => {
  test("says what each program's screens show, and starts no daemon for it", async () => {
    using tieline = commandLine();
    const wrong: string[] = [];
    for (const sample of samples) {
      const { code, stdout, stderr } = await tieline.run(["explain", ...flagsFor(sample), "--json"]);
      expect([code, stderr]).toEqual([0, ""]);
      const { state, draft, rule } = JSON.parse(stdout) as { state: string; draft: boolean; rule: string };
      expect(rule).toBeString();
      if (state !== sample.state || draft !== sample.draft) wrong.push(`${sample.file}: ${state}, draft ${draft}`);
    }
    expect(samples.length).toBeGreaterThan(20);
    expect(wrong).toEqual([]);
    expect(existsSync(tieline.home.socket)).toBe(false);
  }, 120_000);

  test("says of every capture what the rules say that know all of its pane", async () => {
    using tieline = commandLine();
    const wrong: string[] = [];
    for (const labelled of screens) {
      const { args, flags } = await parse(explain, [...flagsFor(labelled), "--json"]);
      let told: unknown;
      const terminal = { paint: plain, json: async (value: unknown) => void (told = value) } as Terminal;
      await explain.run({ args, flags, env: tieline.env, home: tieline.home, terminal } as unknown as Parameters<
        typeof explain.run
      >[0]);
      const { state, draft } = labelled;
      const { rule } = classify(providers.screen(labelled.provider), labelled.screen);
      if (!Bun.deepMatch({ state, draft, rule }, told))
        wrong.push(`${labelled.file}: ${JSON.stringify(told)}, not ${state}, draft ${draft}, by ${rule}`);
    }
    expect(screens.length).toBeGreaterThan(300);
    expect(wrong).toEqual([]);
  });

  test("reads stdin, and tells people the rule and its reason", async () => {
    using tieline = commandLine();
    const idle = screens.find(
      ({ provider, state, draft }) => provider === "claude-code" && state === "idle" && !draft,
    )!;
    const [, , , , ...known] = flagsFor(idle);
    const stdin = await Bun.file(join(fixtures, idle.file)).text();
    const { code, stdout } = await tieline.run(["explain", "--provider", "claude-code", "--screen", "-", ...known], {
      stdin,
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^idle\nrule [\w-]+: \S/);
  });

  test("the user's own rules come first, and wrong ones are refused with the field", async () => {
    using tieline = commandLine();
    const sample = screens.find(({ provider, state }) => provider === "codex" && state === "idle")!;
    const file = join(tieline.home.screens, "codex.json");
    mkdirSync(tieline.home.screens);
    writeFileSync(
      file,
      JSON.stringify({ provider: "codex", rules: [{ name: "always-busy", state: "working", why: "a test says so" }] }),
    );
    const told = await tieline.run(["explain", ...flagsFor(sample), "--json"]);
    expect(JSON.parse(told.stdout)).toMatchObject({ state: "working", rule: "always-busy" });

    writeFileSync(
      file,
      JSON.stringify({ provider: "codex", rules: [{ name: "odd", state: "asleep", why: "no such state" }] }),
    );
    const refused = await tieline.run(["explain", ...flagsFor(sample), "--json"]);
    expect(refused.code).not.toBe(0);
    expect(JSON.parse(refused.stdout)).toMatchObject({
      error: { code: "CONFIG_INVALID", message: expect.stringContaining("rules.0.state") },
    });
  });

  test("half a question is refused with the usage", async () => {
    using tieline = commandLine();
    for (const args of [
      [],
      ["--provider", "codex"],
      ["--screen", "x"],
      ["--provider", "codex", "--screen", "/nowhere"],
      ["--provider", "codex", "--screen", "x", "--cursor", "3"],
    ]) {
      const { code, stdout } = await tieline.run(["explain", ...args, "--json"]);
      expect([code, JSON.parse(stdout).error.code]).toEqual([2, "USAGE"]);
    }
  });
});
