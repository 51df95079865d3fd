/**
 * The files that commands and environments name. Where a sandboxed agent can write in their directories, trust covers
 * their content, because they run outside of the sandbox.
 */
import { lstatSync, readdirSync, readlinkSync, statSync, type Stats } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Profile } from "../../model/profile.ts";
import { follow, isWithin, realPath } from "../../os/paths.ts";
import { programPath } from "../../os/programPath.ts";
import { openUntrusted, readUntrusted, refusalError } from "../../os/untrustedFile.ts";
import type { ProgramPlaces } from "./powers.ts";

export interface Named {
  /** Files, and links on the way to them. No path has a link above its last part. */
  readonly files: readonly string[];
  /** Directories in which programs and libraries are looked up, whether they exist or not. */
  readonly directories: readonly string[];
}

const maxFileBytes = 256 * 1024 * 1024;
const maxEntries = 10_000;
const maxInterpreters = 5;
/** Variables that list directories to load code from. */
const searchVariable = /(PATH|LIB)$/;
/** With bubblewrap only the shell that starts it runs outside: these variables act on that shell. */
const loaderVariable = /^(PATH|ENV|BASH_ENV|GCONV_PATH|LOCPATH|LD_[A-Z_]+)$/;

/** What an agent's settings name and what is run or read outside of a sandbox when it starts. */
export function namedByAgent(profile: Profile, root: string, { path, binDirectory, providers }: ProgramPlaces): Named {
  const { cwd, workspace, sandbox, command, args, sandboxCommand, env, provider } = profile;
  const walled = sandbox === "bwrap";
  const variables = Object.entries(env).filter(([name]) => !walled || loaderVariable.test(name));
  const wrapper = (sandboxCommand ?? []).map((word) => word.replaceAll("{workspace}", workspace ?? ""));
  const programs = command ?? [providers.of(provider).program ?? ""];
  return named({
    words: walled ? [] : [...programs, ...args, ...wrapper],
    programs: walled ? [] : [programs[0]!, ...wrapper.slice(0, 1)],
    variables,
    path: `${binDirectory}:${env["PATH"] ?? path}`,
    places: [...new Set([cwd ?? root, root, ...(workspace === null ? [] : [workspace])])],
  });
}

export const namedByObject = (command: readonly string[], root: string, { path }: ProgramPlaces): Named =>
  named({ words: command, programs: command.slice(0, 1), variables: [], path, places: [root] });

interface Names {
  readonly words: readonly string[];
  readonly programs: readonly string[];
  readonly variables: readonly (readonly [name: string, value: string])[];
  readonly path: string;
  /** Where relative paths can begin. */
  readonly places: readonly string[];
}

function named({ words, programs, variables, path, places }: Names): Named {
  const files = new Set<string>();
  const directories = new Set<string>();
  const addFile = (file: string, interpreters = 0): void => {
    const { links, end } = follow(file);
    for (const one of [...links, end]) files.add(one);
    if (interpreters < maxInterpreters)
      for (const word of interpreterOf(end)) if (isFile(word)) addFile(word, interpreters + 1);
  };
  const addDirectory = (directory: string): void => {
    if (isFile(directory)) return;
    const { links, end } = follow(directory);
    for (const link of links) files.add(link);
    directories.add(end);
  };
  for (const program of programs) {
    const file = programPath(program, { path, cwd: places[0]! });
    if (file !== null) addFile(file);
  }
  for (const word of [...words, ...variables.map(([, value]) => value)])
    for (const candidate of pathsIn(word, places)) if (isFile(candidate)) addFile(candidate);
  for (const directory of path.split(":").filter(isAbsolute)) addDirectory(directory);
  for (const [name, value] of variables)
    if (name !== "PATH" && searchVariable.test(name))
      for (const directory of value.split(":").filter(isAbsolute)) addDirectory(directory);
  return { files: [...files], directories: [...directories] };
}

/** A word can be a path, a line for a shell, an option with a path (`--file=x`) or a list of paths. */
function pathsIn(word: string, places: readonly string[]): string[] {
  const pieces = word.split(/[\s;&|()<>'"`$]+/);
  const parts = new Set([word, ...pieces, ...pieces.flatMap((piece) => piece.split(/[=:,]+/))]);
  parts.delete("");
  // Not normalized: the system follows a link before it applies a `../..` behind it.
  return [...parts].flatMap((part) => (isAbsolute(part) ? [part] : places.map((place) => `${place}/${part}`)));
}

/** The words of a `#!` line. */
function interpreterOf(file: string): string[] {
  const opened = openUntrusted(file, { owners: "anyone" });
  if (!opened.ok) return [];
  using _ = opened;
  const [line = ""] = opened.read(0, 256).toString("latin1").split("\n");
  return line.startsWith("#!") ? line.slice(2).trim().split(/\s+/).filter(isAbsolute) : [];
}

/** The workspaces in which sandboxed agents can write. */
export const reachOf = (profiles: readonly Profile[]): string[] =>
  profiles.flatMap(({ sandbox, workspace }) => (sandbox === "none" || workspace === null ? [] : [realPath(workspace)]));

/**
 * What there is at the named paths that are in one of these workspaces, by path. Throws FILE_REFUSED for what cannot be
 * read whole.
 */
export function contentOf({ files, directories }: Named, workspaces: readonly string[]): Record<string, string> {
  const isReached = (path: string): boolean => workspaces.some((workspace) => isWithin(path, workspace));
  const entries = [
    ...files.filter(isReached).flatMap((path) => described(path, fileContent(path))),
    ...directories.filter(isReached).flatMap((path) => described(path, directoryContent(path))),
  ];
  return Object.fromEntries(entries);
}

const described = (path: string, content: string | null): [string, string][] =>
  content === null ? [] : [[path, content]];

function fileContent(path: string): string | null {
  if (seen(path, lstatSync)?.isSymbolicLink()) return `link to ${readlinkSync(path)}`;
  const read = readUntrusted(path, { maxBytes: maxFileBytes, owners: "anyone" });
  if (read.ok) return `sha256 ${digest(read.bytes)}`;
  if (read.why === "missing") return null;
  throw refusalError(path, read);
}

/** Of the files directly in it, and of those that links there lead to. */
function directoryContent(directory: string): string | null {
  if (!seen(directory, statSync)?.isDirectory()) return null;
  const names = readdirSync(directory).toSorted();
  if (names.length > maxEntries)
    throw refusalError(directory, { ok: false, why: "tooLarge", detail: `has more than ${maxEntries} entries` });
  const found = names
    .map((name) => join(directory, name))
    .filter(isFile)
    .map((path) => [path, ...[...follow(path).links, follow(path).end].map((one) => [one, fileContent(one)])]);
  return `${found.length} files, sha256 ${digest(JSON.stringify(found))}`;
}

const digest = (data: string | Uint8Array): string => new Bun.CryptoHasher("sha256").update(data).digest("hex");

/** Most words of a command are no paths, and some could not be any. */
const isFile = (path: string): boolean => seen(path, statSync)?.isFile() ?? false;

function seen(path: string, look: (path: string) => Stats): Stats | null {
  try {
    return look(path);
  } catch {
    return null;
  }
}
