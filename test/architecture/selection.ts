/** A rule of the layout, and how rules select the files that they are about. */
import type { Source } from "./sources.ts";

export interface Rule {
  readonly name: string;
  /** What breaks the rule, a sentence each. */
  readonly violations: (sources: readonly Source[]) => string[];
  /** Files that break it. */
  readonly broken: readonly Source[];
  /** Holds for tests, benchmarks and the page, too. */
  readonly everywhere?: true;
}

export const isIn = (path: string, folder: string): boolean =>
  path === `src/${folder}.ts` || path.startsWith(`src/${folder}/`);
export const isInOne = (path: string, folders: readonly string[]): boolean =>
  folders.some((folder) => isIn(path, folder));
export const isOurs = (target: string): boolean => target.startsWith("src/");
export const isRuntime = (target: string): boolean =>
  target.startsWith("node:") || target === "bun" || target.startsWith("bun:");
export const isTest = (path: string): boolean => path.endsWith(".test.ts") || isIn(path, "testing");

/** Product code: without tests and contract suites. */
export const product = (sources: readonly Source[], ...folders: string[]): Source[] =>
  sources.filter(({ path }) => !isTest(path) && (folders.length === 0 || isInOne(path, folders)));

/** Each import that is not allowed. */
export const importing = (
  files: readonly Source[],
  allowed: (target: string, path: string) => boolean,
  why: string,
): string[] =>
  files.flatMap(({ path, imports }) =>
    imports.filter(({ target }) => !allowed(target, path)).map(({ target }) => `${path} imports ${target}; ${why}`),
  );

/** Each file that contains what it must not. */
export const containing = (files: readonly Source[], what: RegExp, why: string): string[] =>
  files.flatMap(({ path, code }) => {
    const found = what.exec(code);
    return found ? [`${path} contains ${found[0].trim()}; ${why}`] : [];
  });
