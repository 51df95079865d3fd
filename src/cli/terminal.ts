/** Where a command prints. Colour and lines that change in place are for terminals only. */
export interface Terminal {
  /** stdout is a terminal: text may be redrawn in place. */
  readonly interactive: boolean;
  readonly paint: Paint;
  print(text: string): Promise<void>;
  /** Without a newline, byte for byte. */
  write(text: string): Promise<void>;
  complain(text: string): Promise<void>;
  json(value: unknown): Promise<void>;
  /** Columns that a line may have; without end when nobody looks at it. */
  width(): number;
}

/** As every refusal is shown to people. */
export const errorText = ({ code, message, remedy }: { readonly code: string; readonly message: string; readonly remedy: string }): string => `error ${code}: ${message}\n  ${remedy}`;

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
export type Style = keyof typeof codes;
export type Paint = (style: Style, text: string) => string;

export const plain: Paint = (_style, text) => text;
const coloured: Paint = (style, text) => (text === "" ? "" : `\u001b[${codes[style]}m${text}\u001b[0m`);

export function openTerminal(env: Readonly<Record<string, string | undefined>>): Terminal {
  const interactive = isTerminal(1);
  return {
    interactive,
    paint: interactive && !env["NO_COLOR"] && env["TERM"] !== "dumb" ? coloured : plain,
    print: (text) => put(Bun.stdout, `${text}\n`),
    write: (text) => put(Bun.stdout, text),
    complain: (text) => put(Bun.stderr, `${text}\n`),
    json: (value) => put(Bun.stdout, `${toJson(value)}\n`),
    width: () => (interactive ? process.stdout.columns || 80 : Infinity),
  };
}

/** Touching `process.stdout` or node:tty loads streams and sockets, which takes longer than a whole `tieline send`. */
export function isTerminal(fd: number): boolean {
  const { binding } = process as unknown as { binding(name: "tty_wrap"): { isTTY(fd: number): boolean } };
  return binding("tty_wrap").isTTY(fd);
}

async function put(where: Bun.BunFile, text: string): Promise<void> {
  await Bun.write(where, text);
}

/** Times are ISO-8601 in UTC, so that every language can read them. */
function toJson(value: unknown): string {
  return JSON.stringify(value, (key, inner: unknown) =>
    typeof inner === "number" && (key === "at" || key === "timestamp" || key.endsWith("At")) ? new Date(inner).toISOString() : inner,
  );
}
