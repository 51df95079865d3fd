import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";

export interface Search {
  /** As in PATH. Directories that are relative are left out: what they name depends on the working directory. */
  readonly path: string;
  readonly cwd: string;
}

/** The file that a program's name means; null: there is none that can be run. */
export function programPath(program: string, { path, cwd }: Search): string | null {
  if (program === "" || program.includes("\0")) return null;
  const candidates = program.includes("/")
    ? [resolve(cwd, program)]
    : path
        .split(":")
        .filter(isAbsolute)
        .map((directory) => join(directory, program));
  return candidates.find(isRunnable) ?? null;
}

function isRunnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch (thrown) {
    if (notThere.has((thrown as NodeJS.ErrnoException).code ?? "")) return false;
    throw thrown;
  }
}

const notThere: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "EACCES", "EPERM", "ELOOP", "ENAMETOOLONG"]);
