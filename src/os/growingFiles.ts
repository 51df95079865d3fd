import { statSync } from "node:fs";
import { renewWatcher, type Watcher } from "./watchFolder.ts";
import { wholeLines, type WholeLines } from "./wholeLines.ts";

export type { WholeLines };
import type { FileRules } from "./untrustedFile.ts";

/** Files that other programs append lines to. */
export interface GrowingFiles {
  /**
   * Lines that are there whole, from where `begin` says, as many as one piece has; null: there is no file. Throws
   * FILE_REFUSED when it is no file that the rules allow.
   */
  wholeLines(
    path: string,
    rules: FileRules,
    begin: (file: { readonly size: number; readonly inode: number }) => number,
  ): WholeLines | null;
  /** In bytes; 0: there is no file. */
  sizeOf(path: string): number;
  /** Keeps watching the directory that is there now; undefined where the system cannot watch it. Never throws. */
  renewWatcher(watcher: Watcher | undefined, folder: string, ring: () => void): Watcher | undefined;
}

export const systemFiles: GrowingFiles = {
  wholeLines,
  sizeOf: (path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0,
  renewWatcher,
};
