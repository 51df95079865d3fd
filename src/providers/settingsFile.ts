/** Settings files that belong to other programs: changed in one step, and only where it concerns us. */
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { TielineError } from "../model/errors.ts";

export type Settings = Record<string, unknown>;

export interface HookGroup {
  readonly matcher?: string;
  readonly hooks: readonly Readonly<Record<string, unknown>>[];
}

/** The hooks in the settings, without those that fit. What was empty before stays so. */
export function hooksWithout(settings: Settings, fits: (hook: Readonly<Record<string, unknown>>) => boolean): Record<string, readonly HookGroup[]> {
  const hooks = (settings["hooks"] ?? {}) as Record<string, readonly HookGroup[]>;
  const kept = Object.entries(hooks).map(([event, groups]) => {
    const others = groups.map((group) => ({ ...group, hooks: group.hooks.filter((hook) => !fits(hook)) }));
    return [event, others.filter((group, at) => group.hooks.length > 0 || groups[at]!.hooks.length === 0)] as const;
  });
  return Object.fromEntries(kept.filter(([event, groups]) => groups.length > 0 || hooks[event]!.length === 0));
}

/** How often a file that others write at the same time is read again. */
const maxTries = 10;

/** Changes a settings file in one step; a reader sees the old one or the new one. */
export function changeSettings(file: string, change: (settings: Settings) => Settings): boolean {
  const target = existsSync(file) ? realpathSync(file) : file;
  for (let tries = 0; tries < maxTries; tries++) {
    const before = existsSync(target) ? readFileSync(target, "utf8") : null;
    const settings = before === null ? {} : parsed(target, before);
    const after = `${JSON.stringify(change(settings), null, indentOf(before ?? ""))}\n`;
    if (before !== null && JSON.stringify(settings) === JSON.stringify(JSON.parse(after))) return false;
    mkdirSync(dirname(target), { recursive: true });
    const draft = `${target}.${process.pid}.new`;
    writeFileSync(draft, after, { mode: before === null ? 0o600 : statSync(target).mode & 0o777, flush: true });
    // Another program may have written since we read; its change must not be lost.
    if ((existsSync(target) ? readFileSync(target, "utf8") : null) !== before) continue;
    renameSync(draft, target);
    return true;
  }
  throw new TielineError("CONFLICT", `${file} is being written by another program again and again`, { remedy: "try again later", operands: { file } });
}

function parsed(file: string, text: string): Settings {
  try {
    const settings: unknown = text.trim() === "" ? {} : JSON.parse(text);
    if (typeof settings === "object" && settings !== null && !Array.isArray(settings)) return settings as Settings;
    throw new Error("it is not an object");
  } catch (cause) {
    throw new TielineError("CONFIG_INVALID", `${file} is not valid JSON: ${cause instanceof Error ? cause.message : String(cause)}`, {
      remedy: "nothing was changed; repair the file, then run this again",
      operands: { file },
      cause,
    });
  }
}

const indentOf = (text: string): string => /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
