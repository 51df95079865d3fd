import { appendFileSync, chmodSync, existsSync, renameSync, statSync } from "node:fs";
import { asTielineError } from "../model/errors.ts";
import { linesOf, visible } from "../model/visible.ts";

export interface Log {
  info(text: string): void;
  /** A fault that nobody could be told about otherwise. */
  fault(context: string, thrown: unknown): void;
}

export interface LogOptions {
  readonly maxBytes: number;
  /** How many old files are kept beside the present one. */
  readonly keep: number;
  readonly clock?: () => Date;
}

/**
 * Appends lines to a file that moves aside when it has grown: daemon.log, daemon.log.1, … Paths, names and output of
 * other programs are part of them, so a further line is indented, and what steers a terminal is shown by name.
 */
export function openLog(path: string, { maxBytes, keep, clock = () => new Date() }: LogOptions): Log {
  let size = existsSync(path) ? statSync(path).size : 0;

  function write(level: string, text: string): void {
    const line = `${clock().toISOString()} ${level} ${linesOf(text).map(visible).join("\n    ")}\n`;
    try {
      if (size > 0 && size + line.length > maxBytes) rotate();
      appendFileSync(path, line, { mode: 0o600 });
      size += Buffer.byteLength(line);
    } catch (thrown) {
      // A full disk must not end the daemon that has to report it; its stderr may still be read by somebody.
      console.error(`${line.trimEnd()} (not logged: ${String(thrown)})`);
    }
  }

  function rotate(): void {
    for (let age = keep - 1; age >= 0; age--) {
      const older = age === 0 ? path : `${path}.${age}`;
      if (existsSync(older)) renameSync(older, `${path}.${age + 1}`);
    }
    appendFileSync(path, "", { mode: 0o600 });
    chmodSync(path, 0o600);
    size = 0;
  }

  return {
    info: (text) => write("info", text),
    fault(context, thrown) {
      const error = asTielineError(thrown);
      const stack = thrown instanceof Error && error.code === "INTERNAL" ? `\n${thrown.stack}` : "";
      write("fault", `${context}: ${error.code} ${error.message}${stack}`);
    },
  };
}
