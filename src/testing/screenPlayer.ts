/**
 * Shows captured screens in a pane and writes down every byte that is typed there.
 * `<program> screenPlayer.ts <directory>`, where the program bears the name that the pane's command should have.
 */
import { appendFileSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";

export interface Picture {
  readonly lines: readonly string[];
  readonly title: string;
  readonly cursor: { readonly x: number; readonly y: number };
  readonly cursorHidden?: boolean;
}

export function screenPlayerCommand(dir: string, command: string): string[] {
  const program = join(dir, command);
  if (!existsSync(program)) symlinkSync(process.execPath, program);
  return [program, import.meta.path, dir];
}

export const isPlaying = (dir: string): boolean => existsSync(join(dir, "listening"));
export const typedInto = (dir: string): string =>
  existsSync(join(dir, "typed")) ? readFileSync(join(dir, "typed"), "utf8") : "";

export async function play(dir: string, picture: Picture): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect(join(dir, "control"), () => socket.end(JSON.stringify(picture)));
  socket.on("data", () => resolve());
  socket.on("error", reject);
  await promise.finally(() => socket.destroy());
}

function run(dir: string): void {
  process.stdin.setRawMode(true);
  process.stdin.on("data", (bytes) => appendFileSync(join(dir, "typed"), bytes));
  process.stdout.write("\x1b[?2004h");
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let text = "";
    socket.on("data", (chunk) => (text += String(chunk)));
    socket.on("end", () => show(JSON.parse(text) as Picture, () => socket.end("shown")));
    socket.on("error", () => undefined);
  });
  server.listen(join(dir, "control"), () => writeFileSync(join(dir, "listening"), ""));
}

function show({ lines, title, cursor, cursorHidden = false }: Picture, done: () => void): void {
  // A capture leaves out blanks at the end of a row; a cursor that the program draws is one.
  const body = lines.map((line) => (line.endsWith("\x1b[7m") ? `${line} ` : line)).join("\r\n");
  const place = `\x1b[${cursor.y + 1};${cursor.x + 1}H\x1b[?25${cursorHidden ? "l" : "h"}`;
  process.stdout.write(`\x1b]2;${title}\x07\x1b[0m\x1b[H\x1b[2J\x1b[3J${body}${place}`, () => done());
}

if (import.meta.main) run(process.argv[2]!);
