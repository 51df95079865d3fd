/** Puts our hooks into an agent program's own settings, and takes them out again as if they had never been there. */
import { remember, remembered } from "../../config/memory.ts";
import { rewrite } from "../../config/rewrite.ts";
import type { HookSetup } from "../port.ts";
import { commentsIn } from "../jsonText.ts";
import { parseSettings, settingsText, type Settings } from "../settingsFile.ts";

/** How our hooks get into a program's settings. */
export interface HookSettings {
  /** The argument on which the program prints what decides the form of the hooks. */
  readonly asks?: string;
  /** The file that the hooks go into. */
  file(
    scope: Scope,
    place: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
  ): string;
  /** The settings with exactly our present hooks; whatever else is there stays as it is. */
  with(settings: Settings, setup: HookSetup): Settings;
  /** The settings without Tieline's hooks. `found`: as they were before the hooks; null: not known. */
  without(settings: Settings, found: Settings | null): Settings;
  /** What the user should know or do once they are in. */
  notes(setup: HookSetup, found: Settings): readonly string[];
  /** The same once they are out. */
  readonly notesAfter?: readonly string[];
}

/** All sessions of the user, or those in one project on this machine. */
export type Scope = "user" | "project";

export interface Installation {
  readonly file: string;
  readonly changed: boolean;
  /** Notes for the user. */
  readonly notes: readonly string[];
}

/** The text of a file before our hooks came into it; null: there was no file. */
type Before = string | null;

/** `memory` is the file that keeps what is needed to undo it. Doing it again changes nothing. */
export function installHooks(program: HookSettings, file: string, setup: HookSetup, memory: string): Installation {
  let found: Settings = {};
  let text: string | null = null;
  const changed = rewrite(file, (before) => {
    text = before;
    found = parseSettings(file, before);
    const after = program.with(found, setup);
    return before !== null && Bun.deepEquals(found, after) ? before : settingsText(before, found, after);
  });
  const known = remembered<Before>(memory);
  const wereIn = !Bun.deepEquals(program.without(found, null), found);
  if (!wereIn) remember(memory, { ...known, [file]: text });
  else if (file in known) found = parseSettings(file, known[file]!);
  return { file, changed, notes: program.notes(setup, found) };
}

/** Whether two texts with the same settings have the same comments; null: a file that does not exist. */
const saysTheSame = (text: string, before: string | null): boolean =>
  Bun.deepEquals(commentsIn(text), commentsIn(before ?? ""));

export function removeHooks(program: HookSettings, file: string, memory: string): Installation {
  const { [file]: before, ...others } = remembered<Before>(memory);
  const found = before === undefined ? null : parseSettings(file, before);
  const changed = rewrite(file, (text) => {
    if (text === null) return null;
    const settings = parseSettings(file, text);
    const after = program.without(settings, found);
    if (Bun.deepEquals(settings, after)) return text;
    const edited = settingsText(text, settings, after);
    return before !== undefined && Bun.deepEquals(after, found) && saysTheSame(edited, before) ? before : edited;
  });
  if (before !== undefined) remember(memory, others);
  return { file, changed, notes: changed ? (program.notesAfter ?? []) : [] };
}
