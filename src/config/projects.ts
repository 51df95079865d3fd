import { lstatSync, type Stats } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { TielineError } from "../model/errors.ts";
import { openUntrusted, refusalError, thisUser } from "../os/untrustedFile.ts";
import { parseProject, type Project, projectFileName } from "./project.ts";

/** Larger than any team that people write down, and parsed in a moment. */
export const maxProjectBytes = 1024 * 1024;

/** A tieline.yaml of another user: it has no say. */
export interface IgnoredFile {
  readonly file: string;
  readonly owner: number;
}

interface Found {
  /** The nearest one of this user, at or above the directory. */
  readonly file: string | null;
  /** Those of other users that are nearer. */
  readonly ignored: readonly IgnoredFile[];
}

/**
 * Looks for a tieline.yaml from a directory upwards. Files of other users are passed over: anyone can put one into
 * /tmp.
 */
export function findProject(cwd: string): Found {
  const ignored: IgnoredFile[] = [];
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    const file = join(directory, projectFileName);
    const owner = ownerOf(file);
    if (owner === thisUser()) return { file, ignored };
    if (owner !== null) ignored.push({ file, owner });
    if (directory === dirname(directory)) return { file: null, ignored };
  }
}

/** null: there is none that could be a project file, or none that this user could read. */
function ownerOf(file: string): number | null {
  try {
    const stats = lstatSync(file, { throwIfNoEntry: false });
    return stats === undefined || stats.isDirectory() ? null : stats.uid;
  } catch (thrown) {
    if (unreachable.has((thrown as NodeJS.ErrnoException).code ?? "")) return null;
    throw thrown;
  }
}

const unreachable: ReadonlySet<string> = new Set([
  "EACCES",
  "ENOTDIR",
  "ELOOP",
  "ENAMETOOLONG",
  "ERR_INVALID_ARG_VALUE",
]);

/** Projects by file, parsed again only when the file has changed. */
export class Projects {
  readonly #parsed = new Map<string, { readonly version: string; readonly project: Project }>();

  /** The project that a directory belongs to. */
  at(cwd: string): Project | null {
    const { file } = findProject(cwd);
    return file === null ? null : this.load(file);
  }

  /**
   * `knownAs`: the name of its team, where that is not the one in the file. Throws FILE_REFUSED for what is no regular
   * file of this user, CONFIG_INVALID for what cannot be understood.
   */
  load(file: string, knownAs?: string): Project {
    const key = knownAs === undefined ? file : `${file}\0${knownAs}`;
    const known = this.#parsed.get(key);
    // Asked for every message, so a file that has not changed is only looked at.
    const seen = known && lstatSync(file, { throwIfNoEntry: false });
    if (seen && known.version === versionOf(seen)) return known.project;
    const opened = openUntrusted(file, { maxBytes: maxProjectBytes });
    if (!opened.ok) throw opened.why === "missing" ? gone(file) : refusalError(file, opened);
    using _ = opened;
    const project = parseProject(file, opened.read(0, maxProjectBytes).toString("utf8"), knownAs);
    this.#parsed.set(key, { version: versionOf(opened.stats), project });
    return project;
  }
}

/** Changes whenever a file's content may have: an editor may keep the size, and a copy may keep the time. */
export function versionOf({ ino, uid, mode, mtimeMs, ctimeMs, size }: Stats): string {
  return `${ino}:${uid}:${mode}:${mtimeMs}:${ctimeMs}:${size}`;
}

const gone = (file: string): TielineError =>
  new TielineError("CONFIG_INVALID", `${file} does not exist any more`, {
    remedy: "`tieline init` writes a new one",
    operands: { file },
  });
