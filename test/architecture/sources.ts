/** The source files and their imports, read without running them. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

export interface Import {
  /** A path below the root for our own files, else the name of a module. */
  readonly target: string;
  /** Needed before the importing file can run: neither `import type`, which is erased, nor `import()`, which waits. */
  readonly first: boolean;
}

export interface Source {
  readonly path: string;
  readonly code: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

export const sourceOf = (path: string, text: string): Source => {
  const code = withoutComments(text);
  return { path, code, text, imports: importsOf(path, code) };
};

export const sourcesBelow = (root: string, folder: string): Source[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => join(folder, path))
    .toSorted()
    .map((path) => sourceOf(path, readFileSync(join(root, path), "utf8")));

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[^]*?\*\//g, "").replaceAll(/(^|\s)\/\/.*$/gm, "$1");
}

function importsOf(path: string, code: string): Import[] {
  const statement = /(?:^|;)\s*(?:import|export)\s+(type\s)?(?:[^;"'`]*?\sfrom\s+)?"([^"]+)"|\bimport\(\s*"([^"]+)"/gm;
  return [...code.matchAll(statement)].map(([, type, named, loaded]) => {
    const specifier = (named ?? loaded)!;
    const target = specifier.startsWith(".") ? normalize(join(dirname(path), specifier)) : specifier;
    return { target, first: type === undefined && loaded === undefined };
  });
}

/** Every loop of files that need each other first, each named once. */
export function cyclesIn(sources: readonly Source[]): string[] {
  const edges = new Map(
    sources.map(({ path, imports }) => [path, imports.filter((one) => one.first).map((one) => one.target)]),
  );
  const found = new Set<string>();
  const finished = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      found.add([...trail.slice(start), path].join(" → "));
    } else if (!finished.has(path)) {
      for (const target of edges.get(path) ?? []) visit(target, [...trail, path]);
      finished.add(path);
    }
  };
  for (const path of edges.keys()) visit(path, []);
  return [...found];
}
