/** SQLite's errors, as what they are: another process, a full disk, a passing read error, a damaged file. */
import { closeSync, openSync, readSync } from "node:fs";
import { systemFaults, TielineError } from "../../model/errors.ts";
import type { DatabaseCondition } from "./soundness.ts";

/** Another process has the database. The process that gets this is not the daemon and should talk to the daemon. */
export class DatabaseTaken extends Error {
  override readonly name = "DatabaseTaken";
}

/** `condition` looks at the whole file, because SQLite calls a read that failed for once a malformed database. */
export function translate(path: string, thrown: unknown, condition: () => DatabaseCondition): unknown {
  if (!isSqlite(thrown)) return isSurprise(thrown) ? judged(path, thrown as Error, condition()) : thrown;
  const { code } = thrown;
  const is = (...prefixes: string[]): boolean => prefixes.some((prefix) => code.startsWith(prefix));
  if (is("SQLITE_BUSY", "SQLITE_LOCKED")) return new DatabaseTaken(path, { cause: thrown });
  if (is("SQLITE_FULL")) return unusable(path, "ENOSPC", thrown);
  if (is("SQLITE_IOERR")) return unusable(path, "EIO", thrown);
  if (is("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")) return unusable(path, "EACCES", thrown);
  if (is("SQLITE_NOTADB")) return corrupt(path, thrown.message, thrown);
  return judged(path, thrown, condition());
}

function judged(path: string, thrown: Error, condition: DatabaseCondition): unknown {
  if (condition.kind === "damaged") return corrupt(path, condition.what, thrown);
  if (condition.kind === "unreadable") return unusable(path, "EIO", thrown);
  return isCorrupt(thrown) ? passing(path, thrown) : thrown;
}

/** What was read twice and was wrong twice. SQLite's own check overlooks some damage. */
export function persistent(path: string, thrown: Error, condition: DatabaseCondition): unknown {
  if (condition.kind === "unreadable") return unusable(path, "EIO", thrown);
  return corrupt(path, condition.kind === "damaged" ? condition.what : thrown.message, thrown);
}

export const isSqlite = (thrown: unknown): thrown is Error & { readonly code: string } =>
  thrown instanceof Error && String((thrown as { code?: unknown }).code).startsWith("SQLITE_");

export const isCorrupt = (thrown: unknown): boolean => isSqlite(thrown) && thrown.code.startsWith("SQLITE_CORRUPT");

/** What reading rows of another shape ends in. */
const isSurprise = (thrown: unknown): boolean =>
  thrown instanceof TypeError || thrown instanceof SyntaxError || thrown instanceof RangeError;

export function corrupt(path: string, what: string, cause?: unknown): TielineError {
  return new TielineError("STORE_CORRUPT", `${path} is damaged: ${what}`, {
    remedy: repairRemedy,
    operands: { path },
    ...(cause !== undefined && { cause }),
  });
}

const repairRemedy =
  "nothing was changed. `tieline doctor --repair` saves what can be read and keeps the damaged file; " +
  "`tieline restore latest` goes back to the newest backup";

const passing = (path: string, cause: unknown): TielineError =>
  new TielineError("STORE_UNAVAILABLE", `a read from ${path} failed, but the file is not damaged`, {
    remedy: "try again; if it happens again, check the disk (`dmesg` names it)",
    operands: { path, cause: "EIO" },
    cause,
  });

/** By the system's own code where there is one. */
export function unusable(path: string, code: string, cause: Error): TielineError {
  const known = systemFaults[code];
  if (known)
    return new TielineError(known.code, `${known.problem}: ${path} (${cause.message})`, {
      remedy: known.remedy,
      operands: { path, cause: code },
      cause,
    });
  return new TielineError("STORE_UNAVAILABLE", `${path} cannot be opened for writing (${cause.message})`, {
    remedy: `check that its directory exists and that ${path} is yours and writable: ls -la ${path}`,
    operands: { path, cause: code },
    cause,
  });
}

/**
 * Where a file cannot be read at all, as after a bad sector; null: every byte can. Only for files that no connection
 * has open.
 */
export function unreadableAt(path: string): { readonly offset: number; readonly cause: Error } | null {
  const chunk = Buffer.allocUnsafe(1024 * 1024);
  const fd = openSync(path, "r");
  let offset = 0;
  try {
    for (let read = 1; read > 0; offset += read) read = readSync(fd, chunk, 0, chunk.length, offset);
    return null;
  } catch (cause) {
    return { offset, cause: cause as Error };
  } finally {
    // Closing a file lets go of all locks that this process has on it, SQLite's included.
    closeSync(fd);
  }
}
