/** Configuration files of other programs as text, in which one entry is set or removed and nothing else changes. */
import { parse, stringify, type TomlTable } from "smol-toml";
import { TielineError } from "../model/errors.ts";
import type { Environment } from "./folders.ts";
import { parsedObject, withValue } from "./jsonText.ts";

/** A program's list of MCP servers. */
export interface McpSettings {
  file(env: Environment): string;
  readonly registry: McpRegistry;
  /** The entry for a server that this command starts. */
  entry(command: string): Readonly<Record<string, unknown>>;
}

export interface McpRegistry {
  /** The existing entry; null: none. Throws CONFIG_INVALID for a text that its program could not read. */
  read(text: string): unknown;
  with(text: string, entry: Readonly<Record<string, unknown>>): string;
  without(text: string): string;
}

/** JSON, with or without comments. */
export function jsonText(path: readonly string[]): McpRegistry {
  return {
    read(text) {
      const settings = parsedObject(text);
      if (settings === null) throw invalid("JSON");
      return valueAt(settings, path) ?? null;
    },
    with: (text, entry) => withValue(text, [...path], entry),
    without: (text) => withValue(text, [...path], undefined),
  };
}

/** TOML, in which a table is a block of lines of its own. Throws CONFIG_INVALID when the edit would change more. */
export function tomlText(keys: readonly string[]): McpRegistry {
  const heading = new RegExp(
    `^[ \\t]*\\[[ \\t]*${keys.map((key) => `(?:${key}|"${key}")`).join("[ \\t]*\\.[ \\t]*")}[ \\t]*\\]`,
  );
  const nested = (entry: unknown): TomlTable =>
    keys.reduceRight<unknown>((held, key) => ({ [key]: held }), entry) as TomlTable;
  return {
    read: (text) => valueAt(parsedToml(text), keys) ?? null,
    with(text, entry) {
      const gap = text === "" || text.endsWith("\n\n") ? "" : text.endsWith("\n") ? "\n" : "\n\n";
      return checked(text, `${text}${gap}${stringify(nested(entry))}`, keys);
    },
    without(text) {
      const lines = text.split("\n");
      const start = lines.findIndex((line) => heading.test(line));
      if (start < 0) return text;
      const next = lines.findIndex((line, at) => at > start && /^[ \t]*\[/.test(line));
      const kept = [...lines.slice(0, start), ...(next < 0 ? [""] : lines.slice(next))].join("\n");
      return checked(text, kept.replace(/\n\n+$/, "\n"), keys);
    },
  };
}

/** The new text, provided that everything outside the entry says the same as before. */
function checked(before: string, after: string, keys: readonly string[]): string {
  const [old, now] = [before, after].map((text) => withoutKey(parsedToml(text), keys));
  if (Bun.deepEquals(old, now)) return after;
  throw new TielineError("CONFIG_INVALID", `${keys.join(".")} cannot be edited without changing other settings`, {
    remedy: `nothing was changed; edit [${keys.join(".")}] by hand`,
  });
}

/** Without the entry, and without the tables that hold nothing else. */
function withoutKey(table: TomlTable, [key, ...deeper]: readonly string[]): TomlTable {
  const { [key!]: value, ...rest } = table;
  const left = deeper.length > 0 && value !== undefined ? withoutKey(value as TomlTable, deeper) : {};
  return Object.keys(left).length > 0 ? { ...rest, [key!]: left } : rest;
}

function parsedToml(text: string): TomlTable {
  try {
    return parse(text);
  } catch (cause) {
    throw invalid("TOML", cause);
  }
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce((found, key) => (found as Record<string, unknown> | undefined)?.[key], value);
}

const invalid = (format: string, cause?: unknown): TielineError =>
  new TielineError("CONFIG_INVALID", `the file is not valid ${format}`, {
    remedy: "nothing was changed; repair the file, then run this again",
    cause,
  });
