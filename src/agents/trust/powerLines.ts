/** Powers as lines that people read before they say yes, and what is different between two of them. */
import { shellWord } from "../../os/shell.ts";
import type { Powers, Value } from "./powers.ts";

/** What the digest cannot speak for, said wherever the user is asked. */
export const notCovered =
  "Not covered: what these programs read and run themselves, such as package.json, Makefiles, scripts not listed " +
  "under `files`, imported files and the settings of agent programs in the project.";

export interface ChangedLine {
  readonly sign: "-" | "+";
  readonly text: string;
}

/** One line per setting; a text of several lines has one for each of them. Nothing is left out or cut. */
export function linesOf({ agents, objects }: Powers): string[] {
  const groups = [
    ...Object.entries(agents).map((entry) => ["agent", ...entry] as const),
    ...Object.entries(objects).map((entry) => ["object", ...entry] as const),
  ];
  return groups.flatMap(([kind, name, settings]) => {
    const { asks, provider, ...more } = settings;
    const entries = Object.entries(asks === true ? more : settings);
    const program = asks === true ? [`${kind} ${name}  ${String(provider)}, which asks before it acts`] : [];
    if (entries.length === 0 && program.length === 0) return [`${kind} ${name}`];
    return [
      ...program,
      ...entries.flatMap(([setting, value]) =>
        valueLines(setting, value).map((text) => `${kind} ${name}  ${setting}: ${text}`),
      ),
    ];
  });
}

function valueLines(setting: string, value: Value): string[] {
  if (Array.isArray(value))
    return [value.map((word) => (typeof word === "string" ? shellWord(word) : JSON.stringify(word))).join(" ")];
  if (typeof value === "string") return value.split("\n");
  if (setting === "env")
    return Object.entries(value as Record<string, string>).map(([name, given]) => `${name}=${JSON.stringify(given)}`);
  if (setting === "files")
    return Object.entries(value as Record<string, string>).map(([path, content]) => `${shellWord(path)} ${content}`);
  return [JSON.stringify(value)];
}

/** Beyond this many comparisons, the old lines are shown before the new ones as they are. */
const maxComparisons = 4_000_000;

/** The lines that only one of them has, in their order. */
export function difference(before: readonly string[], after: readonly string[]): ChangedLine[] {
  const removed = (text: string): ChangedLine => ({ sign: "-", text });
  const added = (text: string): ChangedLine => ({ sign: "+", text });
  if (before.length * after.length > maxComparisons) return [...before.map(removed), ...after.map(added)];
  // The length of the longest common part of what follows, for every pair of places.
  const common = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--)
      common[i]![j] =
        before[i] === after[j] ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
  }
  const lines: ChangedLine[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      i++;
      j++;
    } else if (j === after.length || (i < before.length && common[i + 1]![j]! >= common[i]![j + 1]!))
      lines.push(removed(before[i++]!));
    else lines.push(added(after[j++]!));
  }
  return lines;
}
