import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installHooks, removeHooks } from "../hooks/hookInstaller.ts";
import { hookEvents } from "./hooks.ts";
import { commentsIn, parsedObject } from "../jsonText.ts";
import { settingsWithHooks } from "./install.ts";

const setup = { hook: "/home/ana/.tieline/hooks/hook", wait: "/home/ana/.tieline/hooks/wait" };
const foreign = { matcher: "write_file", hooks: [{ type: "command", command: "/x/lint", timeout: 20 }] };

function inFolder(run: (file: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), "tl-gemini-hooks-"));
  try {
    run(join(folder, "settings.json"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const memoryOf = (file: string): string => `${file}.found`;
const read = (file: string) =>
  JSON.parse(readFileSync(file, "utf8")) as { hooks: Record<string, unknown[]>; ui?: unknown };

test("adds its hooks after others, once, and removes them completely", () =>
  inFolder((file) => {
    const before = `${JSON.stringify({ ui: { theme: "mine" }, hooks: { BeforeTool: [foreign] } }, null, 4)}\n`;
    writeFileSync(file, before);
    expect(installHooks(settingsWithHooks, file, setup, memoryOf(file)).changed).toBe(true);
    const { hooks, ui } = read(file);
    expect([ui, Object.keys(hooks).toSorted()]).toEqual([{ theme: "mine" }, [...hookEvents].toSorted()]);
    expect(hooks["BeforeTool"]).toEqual([
      foreign,
      {
        hooks: [
          {
            type: "command",
            name: "tieline",
            command: "/home/ana/.tieline/hooks/hook gemini BeforeTool",
            timeout: 10_000,
          },
        ],
      },
    ]);
    expect(installHooks(settingsWithHooks, file, setup, memoryOf(file)).changed).toBe(false);
    expect(removeHooks(settingsWithHooks, file, memoryOf(file)).changed).toBe(true);
    expect(readFileSync(file, "utf8")).toBe(before);
  }));

test("leaves a broken file alone", () =>
  inFolder((file) => {
    writeFileSync(file, "{ not json");
    expect(() => installHooks(settingsWithHooks, file, setup, memoryOf(file))).toThrow("not valid JSON");
    expect(readFileSync(file, "utf8")).toBe("{ not json");
  }));

test("keeps comments in the settings, and restores the text to the letter", () =>
  inFolder((file) => {
    const before = `{
\t// looks
\t"ui": { "theme": "mine" },
\t"hooks": {
\t\t"BeforeTool": [
\t\t\t// lints each file
\t\t\t{ "matcher": "write_file", "hooks": [{ "type": "command", "command": "/x/lint", "timeout": 20 }] }
\t\t]
\t}
}
`;
    writeFileSync(file, before);
    installHooks(settingsWithHooks, file, setup, memoryOf(file));
    const installed = readFileSync(file, "utf8");
    expect(commentsIn(installed)).toEqual(["// looks", "// lints each file"]);
    expect(parsedObject(installed)).toEqual(settingsWithHooks.with(parsedObject(before)!, setup));
    expect(removeHooks(settingsWithHooks, file, memoryOf(file)).changed).toBe(true);
    expect(readFileSync(file, "utf8")).toBe(before);
  }));
