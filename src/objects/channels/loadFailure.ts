/** Why a module cannot be loaded, with the file and line as far as they are known. */
export function loadFailure(thrown: unknown, { path, text }: { readonly path: string; readonly text: string }): string {
  const error = firstOf(thrown);
  const message = error.message.split("\n", 1)[0]!;
  if (message.startsWith(path)) return message;
  const place = error.position
    ? placeOf(error.position)
    : (importPlace(error, path, text) ?? framePlace(error) ?? path);
  return `${place}: ${message}`;
}

/**
 * What Bun throws: messages of its parser and resolver, several of them at once, or whatever the module itself throws.
 */
interface LoadError {
  readonly message: string;
  readonly stack?: string;
  readonly position?: Position | null;
  readonly specifier?: string;
  readonly referrer?: string;
  readonly errors?: readonly unknown[];
}

interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

function firstOf(thrown: unknown): LoadError {
  const error: LoadError =
    typeof thrown === "object" && thrown !== null && "message" in thrown
      ? (thrown as LoadError)
      : { message: String(thrown) };
  const [first] = error.errors ?? [];
  return first === undefined ? error : firstOf(first);
}

const placeOf = ({ file, line, column }: Position): string => `${file}:${line}:${column}`;

/** The resolver names the file and what it looked for; the line is where that is written. */
function importPlace({ specifier, referrer }: LoadError, path: string, text: string): string | null {
  if (specifier === undefined || referrer !== path) return null;
  const at = text.split("\n").findIndex((line) => line.includes(`"${specifier}"`) || line.includes(`'${specifier}'`));
  return at < 0 ? null : `${path}:${at + 1}`;
}

const framePlace = ({ stack = "" }: LoadError): string | null =>
  /\(?(\/[^\n()]+:\d+:\d+)\)?$/m.exec(stack)?.[1] ?? null;
