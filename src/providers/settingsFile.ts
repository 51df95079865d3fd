/** Settings files that belong to other programs. */
import { TielineError } from "../model/errors.ts";
import { changedText, commentsIn, parsedObject } from "./jsonText.ts";

export type Settings = Record<string, unknown>;

export interface HookGroup {
  readonly matcher?: string;
  readonly hooks: readonly Readonly<Record<string, unknown>>[];
}

/** The hooks in the settings, without those that fit. What was empty before stays so. */
export function hooksWithout(
  settings: Settings,
  fits: (hook: Readonly<Record<string, unknown>>) => boolean,
): Record<string, readonly HookGroup[]> {
  const hooks = (settings["hooks"] ?? {}) as Record<string, readonly HookGroup[]>;
  const kept = Object.entries(hooks).map(([event, groups]) => {
    const others = groups.map((group) => ({ ...group, hooks: group.hooks.filter((hook) => !fits(hook)) }));
    return [event, others.filter((group, at) => group.hooks.length > 0 || groups[at]!.hooks.length === 0)] as const;
  });
  return Object.fromEntries(kept.filter(([event, groups]) => groups.length > 0 || hooks[event]!.length === 0));
}

/** The same, of all the settings. Where none is left, there is no place for them either. */
export function settingsWithout(
  settings: Settings,
  fits: (hook: Readonly<Record<string, unknown>>) => boolean,
): Settings {
  const { hooks: _hooks, ...rest } = settings;
  const hooks = hooksWithout(settings, fits);
  return { ...rest, ...(Object.keys(hooks).length > 0 && { hooks }) };
}

/** Null is a file that does not exist. Throws CONFIG_INVALID when it is not a JSON object, with or without comments. */
export function parseSettings(file: string, text: string | null): Settings {
  const settings = parsedObject(text ?? "");
  if (settings !== null) return settings;
  throw new TielineError("CONFIG_INVALID", `${file} is not valid JSON`, {
    remedy: "nothing was changed; repair the file, then run this again",
    operands: { file },
  });
}

/** The text with the settings changed; comments and formatting stay. */
export function settingsText(text: string | null, settings: Settings, changed: Settings): string {
  if (text === null || (Object.keys(settings).length === 0 && commentsIn(text).length === 0))
    return `${JSON.stringify(changed, null, 2)}\n`;
  return changedText(text, settings, changed);
}
