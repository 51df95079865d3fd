import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { readUntrusted } from "./untrustedFile.ts";

/**
 * Replaces a file in one durable step: after a crash or a full disk there is the old content or the new one, whole. The
 * draft is made in the same directory, because a rename is atomic only there, and never through a link that was put in
 * its place.
 */
export function atomicWrite(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600 }: { readonly mode?: number } = {},
): void {
  const draft = `${path}.${process.pid}.new`;
  rmSync(draft, { force: true });
  try {
    writeNew(draft, typeof content === "string" ? Buffer.from(content) : content, mode);
    renameDurably(draft, path);
  } catch (thrown) {
    rmSync(draft, { force: true });
    throw thrown;
  }
}

/** Writes only what is not there already, so that a home that has not changed can be started on a full disk. */
export function atomicUpdate(path: string, text: string, mode: number): void {
  const there = readUntrusted(path, { maxBytes: 1 << 20 });
  const isSame = there.ok && (there.stats.mode & 0o777) === mode && there.bytes.equals(Buffer.from(text));
  if (!isSame) atomicWrite(path, text, { mode });
}

/** A rename is durable once its directory is. */
export function renameDurably(from: string, to: string): void {
  renameSync(from, to);
  syncDirectory(dirname(to));
}

export function syncDirectory(directory: string): void {
  const fd = openSync(directory, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function writeNew(path: string, bytes: Uint8Array, mode: number): void {
  const fd = openSync(path, "wx", mode);
  try {
    // The mode of a new file is cut by the umask.
    fchmodSync(fd, mode);
    for (let written = 0; written < bytes.length;) written += writeSync(fd, bytes, written);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
