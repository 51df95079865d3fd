/** Settings files that belong to other programs. */
import { TielineError } from "../model/errors.ts";

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

/** Null is a file that is not there. Throws CONFIG_INVALID when it is none. */
export function parseSettings(file: string, text: string | null): Settings {
  try {
    const settings: unknown = text === null || text.trim() === "" ? {} : JSON.parse(text);
    if (typeof settings === "object" && settings !== null && !Array.isArray(settings)) return settings as Settings;
    throw new Error("it is not an object");
  } catch (cause) {
    throw new TielineError(
      "CONFIG_INVALID",
      `${file} is not valid JSON: ${cause instanceof Error ? cause.message : String(cause)}`,
      {
        remedy: "nothing was changed; repair the file, then run this again",
        operands: { file },
        cause,
      },
    );
  }
}

/** Indented as the text before it was. */
export function settingsText(settings: Settings, before: string | null): string {
  const indent = /^([ \t]+)\S/m.exec(before ?? "")?.[1] ?? "  ";
  return `${JSON.stringify(settings, null, indent)}\n`;
}
