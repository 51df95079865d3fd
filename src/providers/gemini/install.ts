/** Our hooks in a settings file of Gemini CLI. */
import { join } from "node:path";
import { geminiFolder } from "./folder.ts";
import type { HookSettings } from "../hooks/hookInstaller.ts";
import type { HookSetup } from "../port.ts";
import { hooksWithout, settingsWithout, type HookGroup, type Settings } from "../settingsFile.ts";
import { hookEvents, hookFor, isOurs } from "./hooks.ts";

export const settingsWithHooks: HookSettings = {
  file: (scope, { cwd, env }) => join(scope === "project" ? join(cwd, ".gemini") : geminiFolder(env), "settings.json"),
  with: withHooks,
  without: (settings) => settingsWithout(settings, isOurs),
  notes: () => [
    "sessions that run already read the hooks when they are started again",
    "in a project's settings Gemini CLI runs them only where you trust the folder",
  ],
};

export function withHooks(settings: Settings, setup: HookSetup): Settings {
  const hooks: Record<string, readonly HookGroup[]> = { ...hooksWithout(settings, isOurs) };
  for (const event of hookEvents) hooks[event] = [...(hooks[event] ?? []), { hooks: [{ ...hookFor(event, setup) }] }];
  return { ...settings, hooks };
}
