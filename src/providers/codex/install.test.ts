import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installHooks, removeHooks } from "../hooks/hookInstaller.ts";
import { hookEvents, trustHash } from "./hooks.ts";
import { settingsWithHooks } from "./install.ts";

const setup = { hook: "/home/ana/.tieline/hooks/hook", wait: "/home/ana/.tieline/hooks/wait" };
const foreign = { matcher: "Bash", hooks: [{ type: "command", command: "/x/lint", timeout: 20 }] };

function inFolder(run: (file: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), "tl-codex-hooks-"));
  try {
    run(join(folder, "hooks.json"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const memoryOf = (file: string): string => `${file}.found`;
const read = (file: string) =>
  JSON.parse(readFileSync(file, "utf8")) as { hooks: Record<string, unknown[]>; note?: string };

test("adds its hooks after others, once, and removes them completely", () =>
  inFolder((file) => {
    const before = `${JSON.stringify({ note: "mine", hooks: { PreToolUse: [foreign] } }, null, 4)}\n`;
    writeFileSync(file, before);
    expect(installHooks(settingsWithHooks, file, setup, memoryOf(file)).changed).toBe(true);
    const { hooks, note } = read(file);
    expect([note, Object.keys(hooks).toSorted()]).toEqual(["mine", Object.keys(hookEvents).toSorted()]);
    expect(hooks["PreToolUse"]).toEqual([
      foreign,
      { hooks: [{ type: "command", command: "/home/ana/.tieline/hooks/hook codex PreToolUse", timeout: 10 }] },
    ]);
    expect(installHooks(settingsWithHooks, file, setup, memoryOf(file)).changed).toBe(false);
    expect(removeHooks(settingsWithHooks, file, memoryOf(file)).changed).toBe(true);
    expect(readFileSync(file, "utf8")).toBe(before);
  }));

test("keeps the place of hooks after ours, by which Codex trusts them", () =>
  inFolder((file) => {
    installHooks(settingsWithHooks, file, setup, memoryOf(file));
    const settings = read(file);
    settings.hooks["Stop"]!.push(foreign);
    writeFileSync(file, JSON.stringify(settings));
    expect(installHooks(settingsWithHooks, file, setup, memoryOf(file)).changed).toBe(false);
    expect(read(file).hooks["Stop"]![1]).toEqual(foreign);
  }));

test("replaces its own hook with another path", () =>
  inFolder((file) => {
    installHooks(settingsWithHooks, file, { ...setup, hook: "/old place/hooks/hook" }, memoryOf(file));
    installHooks(settingsWithHooks, file, setup, memoryOf(file));
    expect(readFileSync(file, "utf8")).not.toContain("/old place");
    expect(read(file).hooks["Stop"]).toHaveLength(1);
  }));

test("leaves a broken file alone", () =>
  inFolder((file) => {
    writeFileSync(file, "{ not json");
    expect(() => installHooks(settingsWithHooks, file, setup, memoryOf(file))).toThrow("not valid JSON");
    expect(readFileSync(file, "utf8")).toBe("{ not json");
  }));

test("says what the user has to approve", () =>
  inFolder((file) => {
    const { notes } = installHooks(settingsWithHooks, file, setup, memoryOf(file));
    expect(notes.join("\n")).toContain("Hooks need review");
    expect(notes.join("\n")).toContain("/home/ana/.tieline/hooks/hook codex <event>");
  }));

test("trusts the hooks of a session that Tieline starts by the digest that Codex computes", () => {
  // As the program itself lists it for this hook.
  const command = "cat >> /tmp/hookprobe.log; echo >> /tmp/hookprobe.log; env >> /tmp/hookprobe.log.env";
  expect(trustHash("PreToolUse", { type: "command", command, timeout: 5 })).toBe(
    "sha256:0c437bdedfc92a13462d7bd51ebbb805bd32ea9bc633d9b0000e19dd5562688a",
  );
});
