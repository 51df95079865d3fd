/** Registers `tieline mcp` with an agent program, and takes it out again as if it had never been there. */
import { remember, remembered } from "../config/memory.ts";
import { rewrite } from "../config/rewrite.ts";
import { TielineError } from "../model/errors.ts";
import type { McpSettings } from "../providers/mcpSettings.ts";
import type { Provider } from "../providers/port.ts";

export interface Registered {
  readonly file: string;
  readonly changed: boolean;
}

/** An edit of a file: the new text and the one it replaced. */
interface Splice {
  readonly removed: string;
  readonly inserted: string;
  /** The file is ours altogether. */
  readonly created: boolean;
}

export function register(
  { mcp, title }: Pick<Provider, "mcp" | "title">,
  env: Readonly<Record<string, string | undefined>>,
  command: string,
  memory: string,
): Registered {
  const { file: fileIn, registry, entry } = mcp!;
  const file = fileIn(env);
  const wanted = entry(command);
  let splice: Splice | null = null;
  const changed = rewrite(file, (before) => {
    splice = null;
    const text = before ?? "";
    const present = inFile(file, () => registry.read(text));
    if (present !== null && !isOurs(present)) throw taken(file, title);
    if (JSON.stringify(present) === JSON.stringify(wanted)) return before;
    const clean = present === null ? text : (undone(text, remembered<Splice>(memory)[file]) ?? registry.without(text));
    const after = registry.with(clean, wanted);
    splice = { ...difference(clean, after), created: before === null };
    return after;
  });
  if (splice !== null) remember(memory, { ...remembered<Splice>(memory), [file]: splice });
  return { file, changed };
}

export function unregister(
  { file: fileIn, registry }: McpSettings,
  env: Readonly<Record<string, string | undefined>>,
  memory: string,
): Registered {
  const file = fileIn(env);
  const { [file]: splice, ...others } = remembered<Splice>(memory);
  const changed = rewrite(file, (text) => {
    if (text === null) return null;
    const present = inFile(file, () => registry.read(text));
    if (present === null || !isOurs(present)) return text;
    const after = undone(text, splice) ?? registry.without(text);
    return splice?.created && (after === "" || after.trim() === "{}") ? null : after;
  });
  if (splice !== undefined) remember(memory, others);
  return { file, changed };
}

/** Restores the replaced text, if ours is still there in one piece. */
function undone(text: string, splice: Splice | undefined): string | null {
  if (splice === undefined) return null;
  const at = text.indexOf(splice.inserted);
  if (at < 0 || text.indexOf(splice.inserted, at + 1) >= 0) return null;
  return text.slice(0, at) + splice.removed + text.slice(at + splice.inserted.length);
}

function difference(before: string, after: string): Omit<Splice, "created"> {
  const shortest = Math.min(before.length, after.length);
  let start = 0;
  while (start < shortest && before[start] === after[start]) start++;
  let end = 0;
  while (end < shortest - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  return { removed: before.slice(start, before.length - end), inserted: after.slice(start, after.length - end) };
}

/** An entry that starts `tieline mcp`, wherever that is installed. */
function isOurs(entry: unknown): boolean {
  const { command, args } = entry as { command?: unknown; args?: unknown };
  const words = [command, args].flat(2).map(String);
  return /(^|\/)tieline$/.test(words[0] ?? "") && words[1] === "mcp";
}

function inFile<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (!(thrown instanceof TielineError)) throw thrown;
    throw new TielineError(thrown.code, `${file}: ${thrown.message}`, {
      remedy: thrown.remedy,
      operands: { file },
      cause: thrown,
    });
  }
}

const taken = (file: string, title: string): TielineError =>
  new TielineError("CONFLICT", `${title} has another MCP server called tieline in ${file}`, {
    remedy: "rename or remove it there, then run this again",
    operands: { file },
  });
