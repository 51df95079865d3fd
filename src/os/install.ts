/** How this Tieline is installed: as sources with `bin` beside them, or as the single file. */
import { fileURLToPath } from "node:url";

const singleFileRoot = "/$bunfs/";
export const isSingleFile = import.meta.url.includes(singleFileRoot);

/** The internal argument that starts the single file as a daemon. */
export const daemonWord = "--daemon-process";

/** A file of ours that is started by itself, by its path below `src`. The single file carries what its build names. */
export function sourceUrl(path: string): URL {
  return isSingleFile ? new URL(path, `file://${singleFileRoot}root/src/`) : new URL(`../${path}`, import.meta.url);
}

export const daemonCommand: readonly string[] = isSingleFile
  ? [process.execPath, daemonWord]
  : [process.execPath, "--no-install", fileURLToPath(sourceUrl("daemon/main.ts"))];

/** The word that starts the single file as the process that copies the mailbox. */
export const copyistWord = "--copyist-process";

export const copyistCommand: readonly string[] = isSingleFile
  ? [process.execPath, copyistWord]
  : [process.execPath, "--no-install", fileURLToPath(sourceUrl("compose/copyist.ts"))];

/** What people and other programs call to run a command of ours. */
export const launcher = isSingleFile ? process.execPath : fileURLToPath(new URL("../../bin/tieline", import.meta.url));
