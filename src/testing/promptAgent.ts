/**
 * A program as agents are: a raw terminal, bracketed paste, a prompt, an echo. Every submitted input is appended to a
 * file as one JSON string per line, and when each paste was read to its end is noted beside it. `bun promptAgent.ts
 * <file>`
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";

export const promptAgentPath = import.meta.path;

/** A line for every paste that the program has read to its end, with the time of that. */
export const pastesOf = (file: string): string => `${file}.pastes`;

/** What was submitted so far, in order. */
export function submissions(file: string): string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as string);
}

if (import.meta.main) run(process.argv[2]!);

function run(file: string): void {
  const decoder = new TextDecoder();
  let pending = "";
  let draft = "";
  let pasting = false;
  let readAt = 0;

  process.stdin.setRawMode(true);
  process.stdin.on("data", (bytes: Uint8Array) => {
    readAt = performance.timeOrigin + performance.now();
    pending += decoder.decode(bytes, { stream: true });
    pending = take(pending);
  });
  process.stdout.write("\x1b[?2004h> ", () => {
    for (const log of [file, pastesOf(file)]) if (!existsSync(log)) writeFileSync(log, "");
  });

  /** Consumes whole keys and marks; what may be the beginning of a mark stays. */
  function take(input: string): string {
    let rest = input;
    while (rest !== "") {
      const mark = /^\x1b\[20([01])~/.exec(rest);
      if (mark) {
        pasting = mark[1] === "0";
        if (!pasting) appendFileSync(pastesOf(file), `${readAt}\n`);
        rest = rest.slice(mark[0].length);
      } else if (rest.startsWith("\x1b") && rest.length < 6) {
        return rest;
      } else if (rest[0] === "\r" && !pasting) {
        submit();
        rest = rest.slice(1);
      } else {
        const next = pasting ? rest.indexOf("\x1b") : Math.max(rest.indexOf("\r"), 1);
        const text = next < 0 ? rest : rest.slice(0, Math.max(next, 1));
        draft += text;
        process.stdout.write(text.replaceAll("\n", "\r\n"));
        rest = rest.slice(text.length);
      }
    }
    return "";
  }

  function submit(): void {
    appendFileSync(file, `${JSON.stringify(draft)}\n`);
    draft = "";
    process.stdout.write("\r\n> ");
  }
}
