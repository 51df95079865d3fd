import { isTerminal, type Terminal } from "../output/terminal.ts";

/** Is there a terminal to ask on? */
export function canAsk({ interactive }: Pick<Terminal, "interactive">): boolean {
  return interactive && isTerminal(0);
}

/** Yes only by saying so. */
export async function confirm(question: string, terminal: Pick<Terminal, "ask">): Promise<boolean> {
  await terminal.ask(`${question} [y/N]`);
  for await (const line of console) return /^y(es)?$/i.test(line.trim());
  return false;
}
