import type { Lines, Terminal } from "./terminal.ts";

export interface Presenting {
  readonly flags: { readonly json?: boolean | undefined };
  readonly terminal: Terminal;
}

/** What a command found or did: JSON for scripts, text for people. Answers the exit code of success. */
export async function present(value: unknown, lines: Lines, { flags, terminal }: Presenting): Promise<number> {
  if (flags.json) await terminal.json(value);
  else await terminal.print(lines);
  return 0;
}
