import { expect, test } from "bun:test";
import { chmodSync, lstatSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { changeSettings } from "../settingsFile.ts";
import { withHooks, withoutHooks } from "./install.ts";

const setup = { port: 4711, hook: "/home/ana/.tieline/hooks/hook", wait: "/home/ana/.tieline/hooks/wait" };

function folder() {
  const path = mkdtempSync(join(tmpdir(), "tl-settings-"));
  return { path, file: join(path, "settings.json"), [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

const own = {
  model: "opus",
  hooks: {
    PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "/usr/local/bin/audit" }] }],
    Notification: [{ hooks: [{ type: "command", command: "beep" }] }],
    Setup: [],
  },
  permissions: { allow: ["Bash(ls)"] },
};

test("hooks are added beside the person's own, once, and taken out without a trace", () => {
  const once = withHooks(own, setup);
  const pre = (once["hooks"] as typeof own.hooks).PreToolUse;
  expect(pre[0]).toEqual(own.hooks.PreToolUse[0]!);
  expect(pre[1]).toMatchObject({ hooks: [{ type: "http", url: "http://127.0.0.1:4711/hooks/claude-code" }] });
  expect(withHooks(once, setup)).toEqual(once);
  expect(JSON.stringify(withHooks(once, { ...setup, port: 5000 }))).not.toContain("4711");
  expect(withoutHooks(once, { closing: true })).toEqual(own);
  expect(Object.keys(withoutHooks(once, { closing: true }))).toEqual(["model", "permissions", "hooks"]);
  expect(withoutHooks(withHooks({}, setup), { closing: true })).toEqual({});
});

test("a decision of the person about other sessions stays", () => {
  expect(withHooks({ crossSessionInbound: "refuse" }, setup)["crossSessionInbound"]).toBe("refuse");
  expect(withoutHooks(withHooks({ crossSessionInbound: "accept" }, setup), { closing: false })).toEqual({ crossSessionInbound: "accept" });
});

test("a path with a quote is still known as ours", () => {
  const odd = { port: null, hook: "/home/o'neil x/hooks/hook", wait: "/home/o'neil x/hooks/wait" };
  expect(withoutHooks(withHooks({}, odd), { closing: true })).toEqual({});
});

test("a file keeps its mode, its indentation and its link; nothing half-written is left", () => {
  using here = folder();
  const real = join(here.path, "dotfiles.json");
  writeFileSync(real, JSON.stringify(own, null, 4));
  chmodSync(real, 0o640);
  symlinkSync(real, here.file);
  expect(changeSettings(here.file, (settings) => withHooks(settings, setup))).toBe(true);
  expect(changeSettings(here.file, (settings) => withHooks(settings, setup))).toBe(false);
  expect(lstatSync(here.file).isSymbolicLink()).toBe(true);
  expect(statSync(real).mode & 0o777).toBe(0o640);
  expect(readFileSync(real, "utf8")).toStartWith('{\n    "model": "opus"');
  expect(changeSettings(here.file, (settings) => withoutHooks(settings, { closing: true }))).toBe(true);
  expect(JSON.parse(readFileSync(real, "utf8"))).toEqual(own);
  expect(readdirSync(here.path).sort()).toEqual(["dotfiles.json", "settings.json"]);
});

test("broken JSON is left alone, and the error names the file", () => {
  using here = folder();
  writeFileSync(here.file, '{"hooks": ');
  expect(() => changeSettings(here.file, (settings) => withHooks(settings, setup))).toThrow(/settings\.json is not valid JSON/);
  expect(readFileSync(here.file, "utf8")).toBe('{"hooks": ');
});

test("what another program writes in between is not lost", () => {
  using here = folder();
  writeFileSync(here.file, "{}");
  let first = true;
  changeSettings(here.file, (settings) => {
    if (first) writeFileSync(here.file, JSON.stringify({ theme: "dark" }));
    first = false;
    return withHooks(settings, setup);
  });
  const after = JSON.parse(readFileSync(here.file, "utf8")) as Record<string, unknown>;
  expect(after["theme"]).toBe("dark");
  expect(after["hooks"]).toBeDefined();
  expect(readdirSync(here.path)).toEqual(["settings.json"]);
});
