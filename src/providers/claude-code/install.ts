/** Our hooks in a settings file of Claude Code. What is ours is known by the paths that only we use. */
import { join } from "node:path";
import { claudeFolder } from "./folder.ts";
import { runsHookOf } from "../hooks/hookCommand.ts";
import type { HookSettings } from "../hooks/hookInstaller.ts";
import type { HookSetup } from "../port.ts";
import { hooksWithout, settingsWithout, type Settings } from "../settingsFile.ts";
import { hookSettings } from "./settings.ts";

export const settingsWithHooks: HookSettings = {
  // A project's settings are shared with others; what names a path of this machine goes into its local ones.
  file: (scope, { cwd, env }) =>
    scope === "project" ? join(cwd, ".claude", "settings.local.json") : join(claudeFolder(env), "settings.json"),

  with: withHooks,
  without: withoutHooks,
  notes: (_setup, { crossSessionInbound: wish }) => [
    "sessions that run already read the hooks when they are started again",
    ...(wish === undefined
      ? ['"crossSessionInbound": "accept" opens the sessions to messages without keystrokes; --undo closes them again']
      : []),
    ...(wish !== undefined && wish !== "accept"
      ? [
          `"crossSessionInbound" is "${String(wish)}" and stays so; messages reach idle sessions through a ` +
            "waiting hook or the terminal",
        ]
      : []),
  ],
};

/** The settings with exactly our present hooks, and open to other sessions unless the user decided otherwise. */
function withHooks(settings: Settings, setup: HookSetup): Settings {
  const hooks = { ...hooksWithout(settings, isOurs) };
  for (const [event, entries] of Object.entries(hookSettings(setup)))
    hooks[event] = [...(hooks[event] ?? []), ...entries];
  return { ...settings, hooks, crossSessionInbound: settings["crossSessionInbound"] ?? "accept" };
}

/** The settings as they would be without us. `accept` is removed only if the user had not set it. */
function withoutHooks(settings: Settings, found: Settings | null): Settings {
  const left = settingsWithout(settings, isOurs);
  if (found === null || "crossSessionInbound" in found || left["crossSessionInbound"] !== "accept") return left;
  const { crossSessionInbound: _accept, ...closed } = left;
  return closed;
}

const runsOurHook = runsHookOf("claude-code");

/** By the folder's name; earlier versions had http hooks, which are known by their header. */
function isOurs({ type, headers, command }: Readonly<Record<string, unknown>>): boolean {
  if (type === "http") return typeof headers === "object" && headers !== null && "X-Tieline-Token" in headers;
  return runsOurHook({ command }) || (typeof command === "string" && /\/hooks\/wait'?$/.test(command));
}
