/**
 * Puts our hooks into a settings file of Claude Code and takes them out again. Whatever else is there stays as it
 * is; what is ours is known by the paths and headers that only we use, so that nothing has to be remembered.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { HookInstaller } from "../hookInstaller.ts";
import type { HookSetup } from "../provider.ts";
import { changeSettings, hooksWithout, type Settings } from "../settingsFile.ts";
import { hookSettings } from "./settings.ts";

export const claudeHooks: HookInstaller = {
  title: "Claude Code",

  // A project's settings are shared with others; what names a port of this machine goes into its local ones.
  file: (scope, { cwd, env }) =>
    scope === "project" ? join(cwd, ".claude", "settings.local.json") : join(env["CLAUDE_CONFIG_DIR"] || join(env["HOME"] ?? "/", ".claude"), "settings.json"),

  install(file, setup, memory) {
    let wish: unknown;
    const changed = changeSettings(file, (settings) => {
      wish = settings["crossSessionInbound"];
      return withHooks(settings, setup);
    });
    if (wish === undefined) remember(memory, [...remembered(memory), file]);
    return { file, changed, notes: notesFor(wish, setup) };
  },

  undo(file, memory) {
    if (!existsSync(file)) return { file, changed: false, notes: [] };
    const closing = remembered(memory).includes(file);
    const changed = changeSettings(file, (settings) => withoutHooks(settings, { closing }));
    remember(memory, remembered(memory).filter((one) => one !== file));
    return { file, changed, notes: [] };
  },
};

function notesFor(wish: unknown, { port }: HookSetup): string[] {
  return [
    "sessions that run already read the hooks when they are started again",
    ...(wish === undefined ? ['"crossSessionInbound": "accept" opens the sessions to messages without keystrokes; --undo closes them again'] : []),
    ...(wish !== undefined && wish !== "accept" ? [`"crossSessionInbound" is "${String(wish)}" and stays so; messages reach idle sessions through a waiting hook or the terminal`] : []),
    ...(port === null ? ["the loopback port is taken, so urgent messages can not stop a tool call; see `tieline doctor`"] : []),
  ];
}

/** Files that we opened to other sessions, and that are to be closed again. */
function remembered(memory: string): string[] {
  return existsSync(memory) ? (JSON.parse(readFileSync(memory, "utf8")) as string[]) : [];
}

function remember(memory: string, files: readonly string[]): void {
  mkdirSync(dirname(memory), { recursive: true, mode: 0o700 });
  writeFileSync(memory, JSON.stringify([...new Set(files)]), { mode: 0o600 });
}

/** The settings with exactly our present hooks, and open to other sessions unless the person decided otherwise. */
export function withHooks(settings: Settings, setup: HookSetup): Settings {
  const hooks = { ...hooksWithoutOurs(settings) };
  for (const [event, entries] of Object.entries(hookSettings(setup))) hooks[event] = [...(hooks[event] ?? []), ...entries];
  return { ...settings, hooks, crossSessionInbound: settings["crossSessionInbound"] ?? "accept" };
}

/** The settings as they would be without us. `accept` goes only when it was ours, which the caller knows. */
export function withoutHooks(settings: Settings, { closing }: { closing: boolean }): Settings {
  const { hooks: _hooks, ...rest } = settings;
  const hooks = hooksWithoutOurs(settings);
  const left = { ...rest, ...(Object.keys(hooks).length > 0 && { hooks }) };
  if (!closing || settings["crossSessionInbound"] !== "accept") return left;
  const { crossSessionInbound: _accept, ...closed } = left as Settings;
  return closed;
}

const hooksWithoutOurs = (settings: Settings) => hooksWithout(settings, isOurs);

/** By the header for http hooks, by the folder's name for programs. */
function isOurs({ type, headers, command }: Readonly<Record<string, unknown>>): boolean {
  if (type === "http") return typeof headers === "object" && headers !== null && "X-Tieline-Token" in headers;
  return typeof command === "string" && /\/hooks\/(hook'? claude-code\b|wait'?$)/.test(command);
}
