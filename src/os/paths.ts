import { realpathSync, statSync } from "node:fs";
import { relative, sep } from "node:path";

export function isWithin(path: string, outer: string): boolean {
  const way = relative(outer, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !way.startsWith(sep));
}

/** The path that everything leads to; for what is not there, the path itself. */
export function realPath(path: string): string {
  return statSync(path, { throwIfNoEntry: false }) ? realpathSync(path) : path;
}
