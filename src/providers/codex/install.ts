/**
 * Our hooks in a hooks file of Codex. Codex runs none of them before the user has trusted it, and trusts a hook by its
 * place in the file: existing hooks are not moved, and trust is never written.
 */
import { join } from "node:path";
import { codexFolder } from "./folder.ts";
import type { HookSettings } from "../hooks/hookInstaller.ts";
import type { HookSetup } from "../port.ts";
import { hooksWithout, settingsWithout, type HookGroup, type Settings } from "../settingsFile.ts";
import { hookEvents, hookFor, isOurs, type CodexHook } from "./hooks.ts";

export const settingsWithHooks: HookSettings = {
  asks: "--version",
  file: (scope, { cwd, env }) => join(scope === "project" ? join(cwd, ".codex") : codexFolder(env), "hooks.json"),
  with: withHooks,
  without: (settings) => settingsWithout(settings, isOurs),
  notes: notesFor,
  notesAfter: ["if other hooks follow Tieline's in the file, Codex asks you to review them again"],
};

function notesFor({ hook }: HookSetup): string[] {
  const events = Object.keys(hookEvents);
  return [
    `Codex runs them only after you have trusted them: at its next start it says "Hooks need review" and ` +
      `names ${events.length} of ours`,
    `each of them runs \`${hook} codex <event>\`, for ${events.join(", ")}; review them there and trust ` +
      "them, or continue without",
    "until then messages wait for the end of a turn, and urgent ones cannot stop a tool call",
    "the file names paths of this machine; keep it out of a shared repository",
  ];
}

function withHooks(settings: Settings, setup: HookSetup): Settings {
  const present = (settings["hooks"] ?? {}) as Record<string, readonly HookGroup[]>;
  const others = hooksWithout(settings, isOurs);
  const hooks = Object.keys({ ...present, ...hookEvents }).map((event) => {
    const ours = hookFor(event, setup);
    if (!(event in hookEvents)) return [event, others[event] ?? []];
    const groups = present[event] ?? [];
    return [event, holds(groups, ours) ? groups : [...(others[event] ?? []), { hooks: [ours] }]];
  });
  return { ...settings, hooks: Object.fromEntries(hooks) };
}

/** Ours, once and as it should be. */
function holds(groups: readonly HookGroup[], { command, timeout }: CodexHook): boolean {
  const ours = groups.flatMap((group) => group.hooks).filter(isOurs);
  return ours.length === 1 && ours[0]!["command"] === command && ours[0]!["timeout"] === timeout;
}
