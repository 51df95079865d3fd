import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { TielineError } from "../model/errors.ts";
import { settingsRules, untrustedText } from "../os/untrustedFile.ts";

const maxBytes = 64 << 20;
/** How often a file that others write at the same time is read again. */
const maxTries = 10;

/**
 * Changes a file that other programs write too, in one step: a reader sees the old text or the new one. Null is a file
 * that is not there. Keeps its mode, and the link that it may be; never loses a change that came in between.
 */
export function rewrite(file: string, change: (text: string | null) => string | null): boolean {
  const target = existsSync(file) ? realpathSync(file) : file;
  for (let tries = 0; tries < maxTries; tries++) {
    const before = textOf(target);
    const after = change(before);
    if (after === before) return false;
    if (put(target, before, after)) return true;
  }
  throw new TielineError("CONFLICT", `${file} is being written by another program again and again`, {
    remedy: "try again later",
    operands: { file },
  });
}

function put(target: string, before: string | null, after: string | null): boolean {
  if (after === null) {
    if (textOf(target) !== before) return false;
    rmSync(target);
    return true;
  }
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  const draft = `${target}.${process.pid}.new`;
  writeFileSync(draft, after, { mode: before === null ? 0o600 : statSync(target).mode & 0o777, flush: true });
  if (textOf(target) !== before) {
    rmSync(draft);
    return false;
  }
  renameSync(draft, target);
  return true;
}

const textOf = (path: string): string | null => untrustedText(path, settingsRules(maxBytes));
