/** A running program whose input is written and whose output is read here. */
export interface PipedProcess {
  readonly pid: number;
  readonly stdin: PipedInput;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  /** Resolves when the process has exited. Its outputs may be open for longer. */
  readonly exited: Promise<number>;
  kill(signal?: "SIGTERM" | "SIGKILL"): void;
}

/** Keeps the order, and holds what the program does not take yet. Each call may fail at once or later. */
export interface PipedInput {
  write(text: string): number | Promise<number>;
  flush(): number | Promise<number>;
  end(): unknown;
}

/** `env` is the whole environment of the process; without it, the process inherits ours. Throws if it cannot start. */
export type SpawnPiped = (argv: readonly string[], env?: Record<string, string>) => PipedProcess;

export const spawnPiped: SpawnPiped = (argv, env) =>
  Bun.spawn([...argv], { stdin: "pipe", stdout: "pipe", stderr: "pipe", ...(env && { env }) });

/** All that a stream says until it ends or is cancelled. */
export function textOf(stream: ReadableStream<Uint8Array>): { readonly text: Promise<string>; cancel(): void } {
  const reader = stream.getReader();
  const read = async (): Promise<string> => {
    const decoder = new TextDecoder();
    let text = "";
    for (let part = await reader.read(); !part.done; part = await reader.read())
      text += decoder.decode(part.value, { stream: true });
    return text + decoder.decode();
  };
  return { text: read(), cancel: () => void reader.cancel().catch(() => undefined) };
}
