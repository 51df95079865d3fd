/**
 * Copies and examines the file of a mailbox that the daemon serves. This must not happen in the daemon's own process:
 * closing the file there would release the lock that makes it the daemon.
 */
import { closeSync, fsyncSync, openSync, rmSync } from "node:fs";
import { translate } from "../../os/sqlite/faults.ts";
import { examine, openImmutable, type Examination } from "./examine.ts";

export interface CopyTask {
  /** A file that does not change meanwhile. */
  readonly from: string;
  /** Null: examine the file itself. */
  readonly to: string | null;
}

export function copy({ from, to }: CopyTask): Examination {
  if (to === null) return examine(from, { open: openImmutable });
  rmSync(to, { force: true });
  const database = openImmutable(from);
  try {
    database.run("VACUUM INTO ?", [to]);
  } catch (thrown) {
    throw translate(from, thrown, () => ({ kind: "damaged", what: (thrown as Error).message }));
  } finally {
    database.close();
  }
  sync(to);
  return examine(to);
}

function sync(path: string): void {
  const file = openSync(path, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
