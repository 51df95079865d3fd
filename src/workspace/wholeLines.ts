/** Reading files that others append lines to. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { isErrno } from "./directory.ts";

export interface WholeLines {
  /** Ends with a line break, or is empty. */
  readonly bytes: Buffer;
  /** Where in the file they begin, and where the next line will. */
  readonly from: number;
  readonly end: number;
  readonly inode: number;
}

/** The lines that are there whole, from where `begin` says; null: there is no file. */
export function wholeLines(path: string, begin: (file: { readonly size: number; readonly inode: number }) => number): WholeLines | null {
  const fd = openIfThere(path);
  if (fd === null) return null;
  try {
    const { size, ino: inode } = fstatSync(fd);
    const from = begin({ size, inode });
    const read = Buffer.alloc(Math.max(0, size - from));
    const count = readSync(fd, read, 0, read.length, from);
    const bytes = read.subarray(0, read.subarray(0, count).lastIndexOf(0x0a) + 1);
    return { bytes, from, end: from + bytes.length, inode };
  } finally {
    closeSync(fd);
  }
}

function openIfThere(path: string): number | null {
  try {
    return openSync(path, "r");
  } catch (thrown) {
    if (isErrno(thrown, "ENOENT")) return null;
    throw thrown;
  }
}
