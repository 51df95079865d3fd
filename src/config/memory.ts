/** Files of ours that hold what has to be known to undo something, by what it was done to. */
import { settingsRules, untrustedText } from "../os/untrustedFile.ts";
import { rewrite } from "./rewrite.ts";

export function remembered<Entry>(file: string): Readonly<Record<string, Entry>> {
  return JSON.parse(untrustedText(file, settingsRules()) ?? "{}") as Record<string, Entry>;
}

export function remember<Entry>(file: string, entries: Readonly<Record<string, Entry>>): void {
  rewrite(file, () => JSON.stringify(entries));
}
