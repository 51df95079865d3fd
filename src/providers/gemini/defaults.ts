/**
 * Settings that Gemini CLI lays under the user's own, in a file that a variable names. It reads only a file that no one
 * but root could have written, and says so on its screen when it leaves one out; so it is named only where it is read.
 */
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";

export const defaultsVariable = "GEMINI_CLI_SYSTEM_DEFAULTS_PATH";

export interface Ownership {
  readonly uid: number;
  readonly mode: number;
}

export interface DefaultsOptions {
  readonly uid?: number | undefined;
  readonly stat?: (folder: string) => Ownership | undefined;
  /** What the machine's administrator wrote would be hidden by ours. */
  readonly administrators?: readonly string[];
}

const writableByOthers = 0o022;

/** Whether Gemini CLI will read a file of ours at this path. */
export function readsDefaults(
  path: string,
  {
    uid = process.getuid?.(),
    stat = (folder) => statSync(folder, { throwIfNoEntry: false }),
    administrators = [
      "/etc/gemini-cli/system-defaults.json",
      "/Library/Application Support/GeminiCli/system-defaults.json",
    ],
  }: DefaultsOptions = {},
): boolean {
  if (uid !== 0 || administrators.some((file) => existsSync(file))) return false;
  return foldersAbove(path)
    .map((folder) => stat(folder))
    .every((folder) => folder?.uid === 0 && (folder.mode & writableByOthers) === 0);
}

function foldersAbove(path: string): string[] {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...foldersAbove(folder)];
}
