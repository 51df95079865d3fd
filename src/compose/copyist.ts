/** A process that copies and examines the mailbox for the daemon, then exits. Its task is its last argument. */
import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { copy, type CopyTask } from "../mailbox/sqlite/copy.ts";
import { asTielineError } from "../model/errors.ts";

process.umask(0o077);
setPriority(19);
let result: object;
try {
  result = { examination: copy(JSON.parse(process.argv.at(-1)!) as CopyTask) };
} catch (thrown) {
  result = { error: asTielineError(thrown).toJSON() };
}
// Its output is a pipe to the daemon.
writeFileSync(1, JSON.stringify(result));
