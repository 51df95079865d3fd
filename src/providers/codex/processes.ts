/** What the system tells of a running Codex. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { codexFolder } from "./folder.ts";
import { entriesOf, environOf, openFilesOf, textOf } from "../processFiles.ts";

/**
 * The threads that it writes. Ids tell the time of birth, so that the last in order is the newest: after `/new` both
 * locks are held.
 */
export function heldThreads(pid: number): string[] {
  return openFilesOf(pid).flatMap((file) => /\/thread-writer-locks\/([0-9a-f-]{36})\.lock$/.exec(file)?.[1] ?? []);
}

/**
 * The thread that a program in a pane is in: the one that we know it by, while it has that, or else its newest. The
 * real Codex may be behind a launcher, or behind a shell and that; what its tools run is in groups of their own.
 */
export function threadHeldBy(
  pid: number,
  known: string | null,
): { readonly threadId: string; readonly holder: number } | null {
  const held = allHeldBy(pid);
  return (
    held.find(({ threadId }) => threadId === known) ??
    held.toSorted((a, b) => (a.threadId < b.threadId ? 1 : -1))[0] ??
    null
  );
}

/** Every thread that a program in a pane has open: `/new` and `/resume` leave the one before open as well. */
export function allHeldBy(pid: number): { readonly threadId: string; readonly holder: number }[] {
  return [pid, ...descendantsInGroup(pid)].flatMap((holder) =>
    heldThreads(holder).map((threadId) => ({ threadId, holder })),
  );
}

/** Threads that some Codex of this home has, or had, open. */
export function lockedThreads(codexHome: string): string[] {
  const folder = join(codexHome, "thread-writer-locks");
  return existsSync(folder)
    ? readdirSync(folder).flatMap((name) => /^([0-9a-f-]{36})\.lock$/.exec(name)?.[1] ?? [])
    : [];
}

/** Where it keeps its things; null: it does not say. */
export function homeOfCodex(pid: number): string | null {
  const env = environOf(pid);
  return env["CODEX_HOME"] || env["HOME"] ? codexFolder(env) : null;
}

function descendantsInGroup(pid: number, group = groupOf(pid)): number[] {
  const children = entriesOf(pid, "task").flatMap((thread) =>
    textOf(pid, `task/${thread}/children`).split(" ").filter(Boolean).map(Number),
  );
  return children
    .filter((child) => groupOf(child) === group)
    .flatMap((child) => [child, ...descendantsInGroup(child, group)]);
}

/** `pid (name) state ppid pgrp …`; the name may itself hold brackets. */
const groupOf = (pid: number): string | undefined => textOf(pid, "stat").split(") ").at(-1)!.split(" ")[2];
