/**
 * A program for panes: raw terminal, bracketed paste on, and every byte it reads appended to a file.
 * `bun rawSink.ts <file> [--no-bracketed-paste]`. The file exists once the program is ready.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { until } from "./until.ts";

if (import.meta.main) run(process.argv[2] ?? "", !process.argv.includes("--no-bracketed-paste"));

function run(file: string, bracketedPaste: boolean): void {
  process.stdin.setRawMode(true);
  process.stdin.on("data", (bytes) => appendFileSync(file, bytes));
  process.stdout.write(bracketedPaste ? "\x1b[?2004hready\r\n" : "ready\r\n", () => writeFileSync(file, ""));
}

export const rawSinkPath = import.meta.path;

/**
 * What a sink has read, as soon as it satisfies `enough`. Asked for, since file events get lost in a burst of writes.
 */
export async function sinkBytes(file: string, enough: (bytes: Buffer) => boolean): Promise<Buffer> {
  const read = (): Buffer | undefined => (existsSync(file) ? readFileSync(file) : undefined);
  const isEnough = (bytes: Buffer | undefined): boolean => bytes !== undefined && enough(bytes);
  await until(
    () => isEnough(read()),
    () => `enough bytes in ${file}, which has ${read()?.length ?? "not been made"}`,
    60_000,
  );
  return readFileSync(file);
}
