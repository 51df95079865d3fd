/**
 * Only one process may replace the files of a home, and only while no daemon serves it. That process first leaves a
 * note and then looks for a daemon; a daemon first takes the mailbox and then looks for a note. So one of them notices
 * the other.
 */
import { linkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TielineError } from "../model/errors.ts";
import { untrustedText } from "../os/untrustedFile.ts";
import { isSameProcess, systemProcesses } from "../os/processes.ts";

interface Note {
  readonly pid: number;
  readonly startMark: string;
  readonly what: string;
}

const noteIn = (root: string): string => join(root, "maintenance");

/** Throws CONFLICT if another process does the same. */
export async function beginMaintenance(root: string, what: string): Promise<Disposable> {
  const own = await systemProcesses().read(process.pid);
  const note: Note = { pid: process.pid, startMark: own?.startMark ?? "", what };
  const path = noteIn(root);
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(note), { mode: 0o600 });
  try {
    for (;;) {
      try {
        // Fails if the note exists; its content is complete at once.
        linkSync(draft, path);
        break;
      } catch (thrown) {
        if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
        const other = await maintenanceOf(root);
        if (other !== null) throw inUse(other, "CONFLICT");
        rmSync(path, { force: true });
      }
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return { [Symbol.dispose]: () => rmSync(path, { force: true }) };
}

/** Throws while a live process replaces files of the home. */
export async function refuseDuringMaintenance(root: string): Promise<void> {
  const note = await maintenanceOf(root);
  if (note !== null) throw inUse(note, "DAEMON_UNAVAILABLE");
}

/** Null: there is none, or the process that left it has exited. */
async function maintenanceOf(root: string): Promise<Note | null> {
  const text = untrustedText(noteIn(root), { maxBytes: 4096 });
  if (text === null) return null;
  let note: Note;
  try {
    note = JSON.parse(text) as Note;
  } catch {
    return null;
  }
  return (await isSameProcess(systemProcesses(), note)) ? note : null;
}

const inUse = ({ pid, what }: Note, code: "CONFLICT" | "DAEMON_UNAVAILABLE"): TielineError =>
  new TielineError(code, `${what} (process ${pid})`, { remedy: "try again when it is done", operands: { pid } });
