import { existsSync, mkdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { atomicWrite } from "../../os/atomicWrite.ts";
import { readUntrusted, refusalError, settingsRules } from "../../os/untrustedFile.ts";

/**
 * Tieline's lines in a file of the user, between two marks. Taking the block out leaves every other byte as it
 * was, so the first mark remembers what had to be added before it.
 */
const opening = "# >>> tieline >>>";
const afterOpenLine = `${opening} the line before had no end`;
const inNewFile = `${opening} the file is ours`;
const closing = "# <<< tieline <<<";

export type BlockChange = "written" | "unchanged" | "removed" | "absent";

export function writeBlock(file: string, lines: readonly string[]): BlockChange {
  const before = existsSync(file) ? readBytes(file) : null;
  const clean = before === null ? null : withoutBlock(before);
  const after = withBlock(clean, lines);
  if (after === before) return "unchanged";
  replace(file, after);
  return "written";
}

export function removeBlock(file: string): BlockChange {
  if (!existsSync(file)) return "absent";
  const before = readBytes(file);
  const after = withoutBlock(before);
  if (after === before) return "absent";
  if (after === null) rmSync(file);
  else replace(file, after);
  return "removed";
}

export function hasBlock(file: string): boolean {
  return existsSync(file) && withoutBlock(readBytes(file)) !== readBytes(file);
}

function withBlock(text: string | null, lines: readonly string[]): string {
  const mark = text === null ? inNewFile : text === "" || text.endsWith("\n") ? opening : afterOpenLine;
  return `${text ?? ""}${mark === afterOpenLine ? "\n" : ""}${[mark, ...lines.map(asBytes), closing].join("\n")}\n`;
}

/** Null: nothing but our block was in a file that we made. */
function withoutBlock(text: string): string | null {
  const found = /^# >>> tieline >>>[^\n]*\n(?:.*\n)*?# <<< tieline <<<\n?/m.exec(text);
  if (!found) return text;
  const [mark = ""] = found[0].split("\n");
  const head = text.slice(0, found.index);
  const tail = text.slice(found.index + found[0].length);
  if (mark === inNewFile && head + tail === "") return null;
  return (mark === afterOpenLine ? head.replace(/\n$/, "") : head) + tail;
}

/** A reader sees the old file or the new one. A link stays a link, and the mode stays what it was. */
function replace(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const target = existsSync(file) ? realpathSync(file) : file;
  const mode = existsSync(target) ? statSync(target).mode & 0o777 : 0o644;
  atomicWrite(target, Buffer.from(text, "latin1"), { mode });
}

/** A character per byte: whatever encoding the file is in, it comes out as it went in. */
function readBytes(file: string): string {
  const found = readUntrusted(file, settingsRules());
  if (found.ok) return found.bytes.toString("latin1");
  throw refusalError(file, found);
}

const asBytes = (text: string): string => Buffer.from(text).toString("latin1");
