export interface ChildResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a child process prints until it exits. */
export async function resultOf(child: Bun.Subprocess<Bun.Spawn.Writable, "pipe", "pipe">): Promise<ChildResult> {
  const [code, stdout, stderr] = await Promise.all([child.exited, textOf(child.stdout), textOf(child.stderr)]);
  return { code, stdout, stderr };
}

export const textOf = (stream: ReadableStream<Uint8Array>): Promise<string> => new Response(stream).text();
