import { readdirSync } from "node:fs";

/**
 * The names in a directory that other programs may remove or replace. What is not there, or is no directory, has none.
 */
export function entriesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (thrown) {
    if (["ENOENT", "ENOTDIR", "ESRCH"].includes((thrown as NodeJS.ErrnoException).code ?? "")) return [];
    throw thrown;
  }
}
