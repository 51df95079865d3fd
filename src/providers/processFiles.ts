/**
 * What the system knows about a running program: on Linux, and of the user's own processes. Nothing is known of
 * others; their screens must do.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Empty: nothing is known. */
export function environOf(pid: number): Readonly<Record<string, string>> {
  const pairs = textOf(pid, "environ")
    .split("\0")
    .filter((pair) => pair.includes("="));
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]));
}

/** What its open files are, by their paths, or `socket:[…]` and the like. */
export function openFilesOf(pid: number): string[] {
  return entriesOf(pid, "fd").flatMap((fd) => linkOf(pid, `fd/${fd}`) ?? []);
}

export const textOf = (pid: number, name: string): string =>
  told(() => readFileSync(`/proc/${pid}/${name}`, "utf8")) ?? "";
export const entriesOf = (pid: number, name: string): string[] => told(() => readdirSync(`/proc/${pid}/${name}`)) ?? [];
export const linkOf = (pid: number, name: string): string | null => told(() => readlinkSync(`/proc/${pid}/${name}`));

/** The process does not exist, has exited, or belongs to another user. */
const untold: ReadonlySet<string | undefined> = new Set(["ENOENT", "ESRCH", "EACCES", "EPERM"]);

function told<Told>(read: () => Told): Told | null {
  try {
    return read();
  } catch (thrown) {
    if (untold.has((thrown as NodeJS.ErrnoException).code)) return null;
    throw thrown;
  }
}
