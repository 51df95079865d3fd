/**
 * A program for panes: raw terminal, bracketed paste on, and every byte it reads appended to a file.
 * `bun rawSink.ts <file> [--no-bracketed-paste]`. The file exists once the program is ready.
 */
import { appendFileSync, watch, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";

if (import.meta.main) run(process.argv[2] ?? "", !process.argv.includes("--no-bracketed-paste"));

function run(file: string, bracketedPaste: boolean): void {
  process.stdin.setRawMode(true);
  process.stdin.on("data", (bytes) => appendFileSync(file, bytes));
  process.stdout.write(bracketedPaste ? "\x1b[?2004hready\r\n" : "ready\r\n", () => writeFileSync(file, ""));
}

export const rawSinkPath = import.meta.path;

/** What a sink has read, as soon as it satisfies `enough`. */
export async function sinkBytes(file: string, enough: (bytes: Buffer) => boolean): Promise<Buffer> {
  const found = Promise.withResolvers<Buffer>();
  async function check(): Promise<void> {
    const handle = Bun.file(file);
    if (!(await handle.exists())) return;
    const bytes = Buffer.from(await handle.arrayBuffer());
    if (enough(bytes)) found.resolve(bytes);
  }
  const watcher = watch(dirname(file), (_event, name) => {
    if (name === basename(file)) check().catch(found.reject);
  });
  try {
    await check();
    return await found.promise;
  } finally {
    watcher.close();
  }
}
