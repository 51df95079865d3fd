import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sourcesBelow } from "./architecture/sources.ts";
import { operationWords } from "../src/api/operationWords.ts";
import { described } from "../src/cli/help/described.ts";
import { helpFor } from "../src/cli/help/help.ts";
import { loadAll } from "../src/cli/registry.ts";

const root = join(import.meta.dir, "..");

interface Mention {
  readonly where: string;
  /** As written, with VALUE for what is filled in when it is printed. */
  readonly text: string;
  readonly command: string;
  /** The word behind the command, which is an action for some commands. */
  readonly next: string | undefined;
  readonly flags: readonly string[];
}

/** Prose ("registers tieline in FILE") and the names of two protocols. */
const notCommands = ["in", "is", "page", "stream"];

/** Each `tieline …` in a text, up to the end of the command or of the sentence. */
function mentionsIn(where: string, text: string): Mention[] {
  const joined = text.replaceAll(/["`]\s*\+\s*["`]/g, "").replaceAll(/\$\{[^{}]*\}/g, "VALUE");
  const found = joined.matchAll(/(?<![\w./-])tieline ([a-z][a-z-]*)((?:(?!<\/)[^\n`"';,.|)\\])*)/g);
  return [...found].flatMap(([all, command, rest]) => {
    if (notCommands.includes(command!)) return [];
    const words = rest!.split(/\s+/).filter((word) => word !== "");
    const flags = words.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.replace(/=.*/, ""));
    return [{ where, text: all.trim(), command: command!, next: words[0], flags }];
  });
}

const isProduct = (path: string): boolean => !/\.(test|fixture)\.ts$|^src\/testing\//.test(path);
const printed = (): Mention[] =>
  ["src", "dashboard"]
    .flatMap((folder) => sourcesBelow(root, folder))
    .filter(({ path }) => isProduct(path))
    .flatMap(({ path, code }) => mentionsIn(path, code));

const written = (): Mention[] =>
  readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`)
    .concat("README.md", "skills/tieline/SKILL.md")
    .flatMap((path) => mentionsIn(path, readFileSync(join(root, path), "utf8")));

const helps = new Map(
  (await loadAll()).map((command) => {
    const help = helpFor(described(command, operationWords()), (_, text) => text);
    return [command.name, help.join("\n")];
  }),
);

/** The actions that the help lists for the first argument, such as those of `tieline team`. */
const actionsIn = (help: string): string[] | null =>
  /\nArguments\n +[<[]action[>\]].*\(([^)]+)\)/.exec(help)?.[1]!.split(", ") ?? null;

function faultOf({ where, text, command, next, flags }: Mention, help: string | undefined): string[] {
  if (help === undefined) return [`${where}: \`${text}\`: there is no command ${command}`];
  const missing = flags.filter((flag) => !new RegExp(`(^|[ ,])${flag}\\b`, "m").test(help.split("\nFlags\n")[1]!));
  const actions = actionsIn(help);
  const isAction = actions === null || next === undefined || !/^[a-z]/.test(next) || actions.includes(next);
  return [
    ...missing.map((flag) => `${where}: \`${text}\`: ${command} has no ${flag}`),
    ...(isAction ? [] : [`${where}: \`${text}\`: ${command} has no action ${next}`]),
  ];
}

test.each([
  ["messages and remedies", printed, 150],
  ["the docs", written, 150],
] as const)("commands in %s exist, with their actions and flags", (_, read, least) => {
  const mentions = read();
  expect(mentions.length).toBeGreaterThan(least);
  expect(mentions.flatMap((mention) => faultOf(mention, helps.get(mention.command)))).toEqual([]);
});

test("a command, an action or a flag that does not exist is found", () => {
  const text = "run `tieline agnets`, `tieline team lst` or `tieline ls --everything`, then `tieline team ls --names`";
  const mentions = mentionsIn("here", text);
  expect(mentions.flatMap((mention) => faultOf(mention, helps.get(mention.command)))).toEqual([
    "here: `tieline agnets`: there is no command agnets",
    "here: `tieline team lst`: team has no action lst",
    "here: `tieline ls --everything`: ls has no --everything",
  ]);
});
