/**
 * What the system tells of a running Codex. On a system without `/proc`, or of a process of somebody else, nothing is
 * known, and the pane has to do.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** The threads that it writes. Ids tell the time of birth, so that the last in order is the newest: after `/new` both locks are held. */
export function heldThreads(pid: number): string[] {
  const files = listed(`/proc/${pid}/fd`).map((fd) => linkAt(`/proc/${pid}/fd/${fd}`) ?? "");
  return files.flatMap((file) => /\/thread-writer-locks\/([0-9a-f-]{36})\.lock$/.exec(file)?.[1] ?? []);
}

/**
 * The thread that a program in a pane is in: the one that we know it by, while it has that, or else its newest. The real
 * Codex may be behind a launcher, or behind a shell and that; what its tools run is in groups of their own.
 */
export function threadHeldBy(pid: number, known: string | null): { readonly threadId: string; readonly holder: number } | null {
  const held = [pid, ...descendantsInGroup(pid)].flatMap((holder) => heldThreads(holder).map((threadId) => ({ threadId, holder })));
  return held.find(({ threadId }) => threadId === known) ?? held.toSorted((a, b) => (a.threadId < b.threadId ? 1 : -1))[0] ?? null;
}

/** Where it keeps its things; null: it does not say. */
export function homeOfCodex(pid: number): string | null {
  const env = environOf(pid);
  const home = env.get("HOME");
  return env.get("CODEX_HOME") || (home === undefined ? null : join(home, ".codex"));
}

function descendantsInGroup(pid: number, group = groupOf(pid)): number[] {
  const children = listed(`/proc/${pid}/task`).flatMap((thread) => readIfThere(`/proc/${pid}/task/${thread}/children`).split(" ").filter(Boolean).map(Number));
  return children.filter((child) => groupOf(child) === group).flatMap((child) => [child, ...descendantsInGroup(child, group)]);
}

/** `pid (name) state ppid pgrp …`; the name may itself hold brackets. */
const groupOf = (pid: number): string | undefined => readIfThere(`/proc/${pid}/stat`).split(") ").at(-1)!.split(" ")[2];

export function environOf(pid: number): Map<string, string> {
  const pairs = readIfThere(`/proc/${pid}/environ`).split("\0").filter((pair) => pair.includes("="));
  return new Map(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]));
}

function listed(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

export function linkAt(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
