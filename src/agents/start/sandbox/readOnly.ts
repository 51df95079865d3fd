/** What in a workspace leads to programs outside of its sandbox, and is therefore read-only inside. */
import { lstatSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { follow, isWithin } from "../../../os/paths.ts";

/** Run by git outside, whichever program wrote them. */
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

/** By these git finds the configuration of the user. */
const userVariables: ReadonlySet<string> = new Set(["HOME", "XDG_CONFIG_HOME"]);

export interface GitHooks {
  readonly links: readonly string[];
  readonly directory: string;
}

/** Where git looks for hooks outside, as `core.hooksPath` says, and the links on the way; null: not a repository. */
export async function hooksOf(workspace: string, given: Readonly<Record<string, string>>): Promise<GitHooks | null> {
  const git = Bun.which("git");
  if (git === null) return null;
  const env = Object.fromEntries(Object.entries(given).filter(([name]) => userVariables.has(name)));
  // The repository can be the agent's own: its configuration can be a FIFO, or endless.
  const child = Bun.spawn([git, "rev-parse", "--git-path", "hooks"], {
    ...{ cwd: workspace, env, stdin: "ignore", stdout: "pipe", stderr: "ignore" },
    ...{ timeout: 10_000, maxBuffer: 64 * 1024 },
  });
  const [code, text] = await Promise.all([child.exited, new Response(child.stdout).text()]);
  if (code !== 0) return null;
  const path = text.replace(/\n$/, "");
  const { links, end } = follow(isAbsolute(path) ? path : `${workspace}/${path}`);
  return { links, directory: end };
}
