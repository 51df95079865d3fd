/**
 * Whether running sandboxes still keep files read-only. A rename over a mounted file outside detaches its mount, and a
 * sandbox that started earlier does not know files that were named later.
 */
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { insideWorkspace } from "../start/sandbox/sandbox.ts";
import { isWithin } from "../../os/paths.ts";

export interface WritablePath {
  readonly path: string;
  readonly workspace: string;
}

/** The first of these paths that can be written or replaced in a running sandbox. Paths have no links in them. */
export function writableInSandbox(paths: readonly string[], proc = "/proc"): WritablePath | null {
  const around = directoriesAround(paths);
  for (const { pid, identity } of sandboxesIn(proc)) {
    const workspace = around.get(identity);
    const mounts = workspace === undefined ? null : mountsOf(join(proc, pid, "mountinfo"));
    if (workspace === undefined || mounts === null) continue;
    const path = paths.find(
      (one) => isWithin(one, workspace) && one !== workspace && !isReadOnly(one, workspace, mounts),
    );
    if (path !== undefined) return { path, workspace };
  }
  return null;
}

/** Every directory above these paths, by device and inode. */
function directoriesAround(paths: readonly string[]): Map<string, string> {
  const directories = new Set<string>();
  for (const path of paths)
    for (let at = dirname(path); !directories.has(at) && at !== "/"; at = dirname(at)) directories.add(at);
  return new Map([...directories].flatMap((directory) => pair(identityOf(directory), directory)));
}

const pair = (identity: string | null, directory: string): [string, string][] =>
  identity === null ? [] : [[identity, directory]];

/** One process of each mount namespace but ours that has a workspace. */
function sandboxesIn(proc: string): { pid: string; identity: string }[] {
  const namespaceOf = (pid: string): string | null => ifThere(() => readlinkSync(join(proc, pid, "ns/mnt")));
  const known = new Set([namespaceOf("self")]);
  return (ifThere(() => readdirSync(proc)) ?? []).flatMap((pid) => {
    const namespace = /^\d+$/.test(pid) ? namespaceOf(pid) : null;
    if (namespace === null || known.has(namespace)) return [];
    known.add(namespace);
    const identity = identityOf(`${proc}/${pid}/root${insideWorkspace}`);
    return identity === null ? [] : [{ pid, identity }];
  });
}

function identityOf(directory: string): string | null {
  const stats = ifThere(() => statSync(directory));
  return stats === null ? null : `${stats.dev}:${stats.ino}`;
}

/**
 * Whether each mount point is read-only; the last mount on it counts. null: not made by bubblewrap, whose root is a
 * tmpfs. A container can have a `/workspace`, too.
 */
function mountsOf(file: string): Map<string, boolean> | null {
  const text = ifThere(() => readFileSync(file, "utf8"));
  if (text === null || !/^\S+ \S+ \S+ \S+ \/ .* - tmpfs /m.test(text)) return null;
  const lines = text.split("\n").map((line) => line.split(" "));
  return new Map(
    lines.flatMap(([, , , , point, options]) =>
      point === undefined || options === undefined ? [] : [[unescaped(point), options.split(",").includes("ro")]],
    ),
  );
}

/** Bytes that the kernel writes as `\040`. */
const unescaped = (point: string): string =>
  point.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));

function isReadOnly(path: string, workspace: string, mounts: ReadonlyMap<string, boolean>): boolean {
  let at = join(insideWorkspace, relative(workspace, path));
  while (at !== "/" && !mounts.has(at)) at = dirname(at);
  return mounts.get(at) ?? false;
}

/** Processes end while they are looked at, and those of other users cannot be looked at. */
function ifThere<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}
