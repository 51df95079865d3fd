/** Puts our hooks into a settings file of Gemini CLI and takes them out again. Whatever else is there stays as it is. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { HookInstaller } from "../hookInstaller.ts";
import type { HookSetup } from "../provider.ts";
import { changeSettings, hooksWithout, type HookGroup, type Settings } from "../settingsFile.ts";
import { hookEvents, hookFor, isOurs } from "./hooks.ts";

export const geminiHooks: HookInstaller = {
  title: "Gemini CLI",

  file: (scope, { cwd, env }) => join(scope === "project" ? cwd : env["GEMINI_CLI_HOME"] || (env["HOME"] ?? "/"), ".gemini", "settings.json"),

  install(file, setup) {
    const changed = changeSettings(file, (settings) => withHooks(settings, setup));
    return { file, changed, notes: ["sessions that run already read the hooks when they are started again", "in a project's settings Gemini CLI runs them only where you trust the folder"] };
  },

  undo(file) {
    if (!existsSync(file)) return { file, changed: false, notes: [] };
    return { file, changed: changeSettings(file, withoutHooks), notes: [] };
  },
};

export function withHooks(settings: Settings, setup: HookSetup): Settings {
  const hooks: Record<string, readonly HookGroup[]> = { ...hooksWithout(settings, isOurs) };
  for (const event of hookEvents) hooks[event] = [...(hooks[event] ?? []), { hooks: [{ ...hookFor(event, setup) }] }];
  return { ...settings, hooks };
}

export function withoutHooks(settings: Settings): Settings {
  const { hooks: _hooks, ...rest } = settings;
  const hooks = hooksWithout(settings, isOurs);
  return { ...rest, ...(Object.keys(hooks).length > 0 && { hooks }) };
}
