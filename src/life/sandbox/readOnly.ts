/** What in a workspace leads to programs outside of its sandbox, and is therefore read-only inside. */
import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { isWithin } from "../../os/paths.ts";

/** Run by git outside, whoever wrote them. */
const repositoryParts = [".git", ".husky", ".githooks"];

/** The paths of these that are there, and in the workspace. */
export function readOnlyIn(workspace: string, decisive: readonly string[]): string[] {
  const wanted = [...decisive, ...repositoryParts.map((name) => join(workspace, name))].filter(
    (path) => path !== workspace && isWithin(path, workspace),
  );
  return [...new Set(wanted)]
    .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === false)
    .toSorted();
}

/**
 * The directories between the workspace and what is read-only. They are mounted as they are: a mounted directory
 * cannot be renamed, so that nothing else can be put into its place.
 */
export function pinnedIn(workspace: string, readOnly: readonly string[]): string[] {
  const pinned = new Set<string>();
  for (const path of readOnly)
    for (let directory = dirname(path); directory !== workspace; directory = dirname(directory)) pinned.add(directory);
  return [...pinned].filter((directory) => !readOnly.some((path) => isWithin(directory, path))).toSorted();
}

/**
 * Links in the place of what has to stay as it is: nothing can be mounted on a link. A link in a directory that is
 * read-only cannot be replaced.
 */
export function linksIn(workspace: string, decisive: readonly string[]): string[] {
  const readOnly = readOnlyIn(workspace, decisive);
  const wanted = [...decisive, ...repositoryParts.map((name) => join(workspace, name))].filter(
    (path) => isWithin(path, workspace) && !readOnly.some((outer) => isWithin(dirname(path), outer)),
  );
  return wanted.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink());
}
