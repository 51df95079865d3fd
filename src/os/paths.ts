import { lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, sep } from "node:path";

export function isWithin(path: string, outer: string): boolean {
  const way = relative(outer, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !way.startsWith(sep));
}

/** The path that everything leads to; for what is not there, the path itself. */
export function realPath(path: string): string {
  return statSync(path, { throwIfNoEntry: false }) ? realpathSync(path) : path;
}

const maxLinks = 40;

/** The links on the way to where a path leads, and its end. None of them has a link above its last part. */
export function follow(path: string): { links: string[]; end: string } {
  const links: string[] = [];
  let rest = path.split("/");
  let at = "/";
  while (rest.length > 0) {
    const [part = "", ...more] = rest;
    rest = more;
    if (part === "" || part === ".") continue;
    const next = part === ".." ? dirname(at) : join(at, part);
    if (links.length < maxLinks && isLink(next)) {
      links.push(next);
      const target = readlinkSync(next);
      rest = [...target.split("/"), ...rest];
      if (isAbsolute(target)) at = "/";
    } else at = next;
  }
  return { links, end: at };
}

/** What cannot be looked at is no link. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}
