import { expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installHooks, removeHooks } from "../hooks/hookInstaller.ts";
import { commentsIn, parsedObject } from "../jsonText.ts";
import { settingsWithHooks } from "./install.ts";

const { with: withHooks, without: withoutHooks } = settingsWithHooks;

const setup = { hook: "/home/ana/.tieline/hooks/hook", wait: "/home/ana/.tieline/hooks/wait" };

const elsewhere = { hook: "/srv/tieline/hooks/hook", wait: "/srv/tieline/hooks/wait" };

/** As version 0.1.0 wrote them. */
const http = {
  type: "http",
  url: "http://127.0.0.1:4711/hooks/claude-code",
  headers: { "X-Tieline-Token": "$TIELINE_TOKEN" },
  allowedEnvVars: ["TIELINE_TOKEN"],
  timeout: 5,
};

function folder() {
  const path = mkdtempSync(join(tmpdir(), "tl-settings-"));
  return {
    path,
    file: join(path, "settings.json"),
    memory: join(path, "memory.json"),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
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

test("adds hooks beside the user's own, once, and removes them completely", () => {
  const once = withHooks(own, setup);
  const pre = (once["hooks"] as typeof own.hooks).PreToolUse;
  expect(pre[0]).toEqual(own.hooks.PreToolUse[0]!);
  expect(pre[1]).toEqual({
    hooks: [{ type: "command", command: "/home/ana/.tieline/hooks/hook claude-code PreToolUse", timeout: 5 }],
  } as never);
  expect(withHooks(once, setup)).toEqual(once);
  expect(JSON.stringify(withHooks(once, elsewhere))).not.toContain("/home/ana/");
  expect(withoutHooks(once, own)).toEqual(own);
  expect(Object.keys(withoutHooks(once, own))).toEqual(["model", "permissions", "hooks"]);
  expect(withoutHooks(withHooks({}, setup), {})).toEqual({});
});

test("replaces and removes the http hooks of an earlier version", () => {
  const waiter = { type: "command", command: setup.wait, asyncRewake: true, timeout: 604_800 };
  const before = {
    ...own,
    hooks: {
      ...own.hooks,
      PreToolUse: [...own.hooks.PreToolUse, { hooks: [http] }],
      Stop: [{ hooks: [http, waiter] }],
    },
  };
  expect(withHooks(before, setup)).toEqual(withHooks(own, setup));
  expect(JSON.stringify(withHooks(before, setup))).not.toMatch(/127\.0\.0\.1|TOKEN/);
  expect(withoutHooks(before, own)).toEqual(own);
});

test("keeps the user's decision about other sessions", () => {
  expect(withHooks({ crossSessionInbound: "refuse" }, setup)["crossSessionInbound"]).toBe("refuse");
  expect(withoutHooks(withHooks({ crossSessionInbound: "accept" }, setup), { crossSessionInbound: "accept" })).toEqual({
    crossSessionInbound: "accept",
  });
});

test("recognises its hook by a path with a quote", () => {
  const odd = { hook: "/home/o'neil x/hooks/hook", wait: "/home/o'neil x/hooks/wait" };
  expect(withoutHooks(withHooks({}, odd), {})).toEqual({});
});

test("keeps mode, indentation and link of a file, and restores its text", () => {
  using here = folder();
  const real = join(here.path, "dotfiles.json");
  const before = JSON.stringify(own, null, 4).replace(/\[\s+"Bash\(ls\)"\s+\]/, '["Bash(ls)"]');
  writeFileSync(real, before);
  chmodSync(real, 0o640);
  symlinkSync(real, here.file);
  expect(installHooks(settingsWithHooks, here.file, setup, here.memory).changed).toBe(true);
  expect(installHooks(settingsWithHooks, here.file, setup, here.memory).changed).toBe(false);
  expect(lstatSync(here.file).isSymbolicLink()).toBe(true);
  expect(statSync(real).mode & 0o777).toBe(0o640);
  expect(readFileSync(real, "utf8")).toStartWith('{\n    "model": "opus"');
  expect(removeHooks(settingsWithHooks, here.file, here.memory).changed).toBe(true);
  expect(readFileSync(real, "utf8")).toBe(before);
  expect(statSync(real).mode & 0o777).toBe(0o640);
  expect(removeHooks(settingsWithHooks, here.file, here.memory).changed).toBe(false);
  expect(readdirSync(here.path).sort()).toEqual(["dotfiles.json", "memory.json", "settings.json"]);
});

test("a file that did not exist is removed again, unless it was changed", () => {
  using here = folder();
  installHooks(settingsWithHooks, here.file, setup, here.memory);
  installHooks(settingsWithHooks, here.file, elsewhere, here.memory);
  removeHooks(settingsWithHooks, here.file, here.memory);
  expect(existsSync(here.file)).toBe(false);
  installHooks(settingsWithHooks, here.file, setup, here.memory);
  writeFileSync(
    here.file,
    JSON.stringify({ ...(JSON.parse(readFileSync(here.file, "utf8")) as object), theme: "dark" }),
  );
  removeHooks(settingsWithHooks, here.file, here.memory);
  expect(JSON.parse(readFileSync(here.file, "utf8"))).toEqual({ theme: "dark" });
});

test("keeps what the user changed while the hooks were installed", () => {
  using here = folder();
  writeFileSync(here.file, JSON.stringify(own));
  installHooks(settingsWithHooks, here.file, setup, here.memory);
  writeFileSync(
    here.file,
    JSON.stringify({ ...(JSON.parse(readFileSync(here.file, "utf8")) as object), model: "sonnet" }),
  );
  installHooks(settingsWithHooks, here.file, elsewhere, here.memory);
  removeHooks(settingsWithHooks, here.file, here.memory);
  expect(JSON.parse(readFileSync(here.file, "utf8"))).toEqual({ ...own, model: "sonnet" });
});

test("removes hooks of another home, and leaves open what they opened", () => {
  using here = folder();
  installHooks(settingsWithHooks, here.file, setup, here.memory);
  rmSync(here.memory);
  removeHooks(settingsWithHooks, here.file, here.memory);
  expect(JSON.parse(readFileSync(here.file, "utf8"))).toEqual({ crossSessionInbound: "accept" });
});

test("leaves broken JSON alone, and names the file in the error", () => {
  using here = folder();
  writeFileSync(here.file, '{"hooks": ');
  expect(() => installHooks(settingsWithHooks, here.file, setup, here.memory)).toThrow(
    /settings\.json is not valid JSON/,
  );
  expect(readFileSync(here.file, "utf8")).toBe('{"hooks": ');
});

test("loses nothing that another program writes in the meantime", () => {
  using here = folder();
  writeFileSync(here.file, "{}");
  let first = true;
  const slow = {
    ...settingsWithHooks,
    with(...args: Parameters<typeof withHooks>) {
      if (first) writeFileSync(here.file, JSON.stringify({ theme: "dark" }));
      first = false;
      return withHooks(...args);
    },
  };
  installHooks(slow, here.file, setup, here.memory);
  const after = JSON.parse(readFileSync(here.file, "utf8")) as Record<string, unknown>;
  expect(after["theme"]).toBe("dark");
  expect(after["hooks"]).toHaveProperty("SessionStart");
  removeHooks(settingsWithHooks, here.file, here.memory);
  expect(readFileSync(here.file, "utf8")).toBe(JSON.stringify({ theme: "dark" }));
});

test("keeps comments in the settings, and restores the text to the letter", () => {
  using here = folder();
  const before = `{
  // my model
  "model": "opus", /* for now */
  "hooks": {
    // audits every command
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "/usr/local/bin/audit" }] }, // mine
    ],
  },
}
`;
  writeFileSync(here.file, before);
  expect(installHooks(settingsWithHooks, here.file, setup, here.memory).changed).toBe(true);
  const installed = readFileSync(here.file, "utf8");
  expect(commentsIn(installed)).toEqual(commentsIn(before));
  expect(parsedObject(installed)).toEqual(withHooks(parsedObject(before)!, setup));
  expect(installHooks(settingsWithHooks, here.file, setup, here.memory).changed).toBe(false);
  expect(removeHooks(settingsWithHooks, here.file, here.memory).changed).toBe(true);
  expect(readFileSync(here.file, "utf8")).toBe(before);

  // A comment that was written in the meantime stays.
  installHooks(settingsWithHooks, here.file, setup, here.memory);
  writeFileSync(here.file, readFileSync(here.file, "utf8").replace("/* for now */", "/* until May */"));
  removeHooks(settingsWithHooks, here.file, here.memory);
  expect(readFileSync(here.file, "utf8")).toContain("/* until May */");
  expect(parsedObject(readFileSync(here.file, "utf8"))).toEqual(parsedObject(before)!);
});
