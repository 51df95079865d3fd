/** Configuration files of other programs as text, in which one entry is set or removed and nothing else changes. */
import { TielineError } from "../model/errors.ts";
import type { Environment } from "./folders.ts";
import { parsedObject, withValue } from "./jsonText.ts";

/** A program's list of MCP servers. */
export interface McpSettings {
  file(env: Environment): string;
  readonly registry: Registry;
  /** The entry for a server that this command starts. */
  entry(command: string): Readonly<Record<string, unknown>>;
}

export interface Registry {
  /** The existing entry; null: none. Throws CONFIG_INVALID for a text that its program could not read. */
  read(text: string): unknown;
  with(text: string, entry: Readonly<Record<string, unknown>>): string;
  without(text: string): string;
}

/** JSON, with or without comments. */
export function jsonText(path: readonly string[]): Registry {
  return {
    read(text) {
      let found: unknown = parsedObject(text);
      if (found === null) throw invalid("JSON");
      for (const key of path) found = (found as Record<string, unknown> | undefined)?.[key];
      return found ?? null;
    },
    with: (text, entry) => withValue(text, [...path], entry),
    without: (text) => withValue(text, [...path], undefined),
  };
}

/** TOML, in which a table is a block of lines of its own. */
export function tomlText(table: string): Registry {
  const heading = new RegExp(
    `^[ \\t]*\\[[ \\t]*${table
      .split(".")
      .map((key) => `(?:${key}|"${key}")`)
      .join("[ \\t]*\\.[ \\t]*")}[ \\t]*\\]`,
  );
  return {
    read(text) {
      let found: unknown = parsed(text);
      for (const key of table.split(".")) found = (found as Record<string, unknown> | undefined)?.[key];
      return found ?? null;
    },
    with(text, entry) {
      const lines = Object.entries(entry).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
      const gap = text === "" || text.endsWith("\n\n") ? "" : text.endsWith("\n") ? "\n" : "\n\n";
      return `${text}${gap}[${table}]\n${lines.join("\n")}\n`;
    },
    without(text) {
      const lines = text.split("\n");
      const start = lines.findIndex((line) => heading.test(line));
      if (start < 0) return text;
      const next = lines.findIndex((line, at) => at > start && /^[ \t]*\[/.test(line));
      const kept = [...lines.slice(0, start), ...(next < 0 ? [""] : lines.slice(next))].join("\n");
      return kept.replace(/\n\n+$/, "\n");
    },
  };
}

function parsed(text: string): Record<string, unknown> {
  try {
    return Bun.TOML.parse(text) as Record<string, unknown>;
  } catch (cause) {
    throw invalid("TOML", cause);
  }
}

const invalid = (format: string, cause?: unknown): TielineError =>
  new TielineError("CONFIG_INVALID", `the file is not valid ${format}`, {
    remedy: "nothing was changed; repair the file, then run this again",
    cause,
  });
