/** A program on a real terminal. */
export interface OnTerminal {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly columns?: number;
  /** Called with everything that the terminal received so far; true ends the program by Ctrl-C. */
  readonly enough?: (told: string) => boolean;
}

/** Runs it to its end; returns everything that the terminal received. */
export async function runOnTerminal(
  argv: readonly string[],
  { cwd, env, columns = 80, enough }: OnTerminal,
): Promise<{ code: number; told: string }> {
  let told = "";
  const decoder = new TextDecoder();
  const data = (_terminal: unknown, chunk: Uint8Array): void => {
    told += decoder.decode(chunk, { stream: true });
    if (enough?.(told)) child.kill("SIGINT");
  };
  const child = Bun.spawn([...argv], { cwd, env: { ...env }, terminal: { cols: columns, rows: 24, data } });
  const code = await child.exited;
  child.terminal?.close();
  return { code, told };
}
