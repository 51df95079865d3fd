import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { checkTeamName } from "../model/address.ts";
import { TielineError } from "../model/errors.ts";
import { defaultTeam, parseProject, type Project, projectFileName } from "./project.ts";

/** The nearest tieline.yaml at or above a directory. */
export function findProject(cwd: string): string | null {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    const file = join(directory, projectFileName);
    if (statSync(file, { throwIfNoEntry: false })?.isFile()) return file;
    if (directory === dirname(directory)) return null;
  }
}

/** Projects by file, parsed again only when the file has changed. */
export class Projects {
  readonly #parsed = new Map<string, { readonly version: string; readonly project: Project }>();

  /** The project that a directory belongs to. */
  at(cwd: string): Project | null {
    const file = findProject(cwd);
    return file === null ? null : this.load(file);
  }

  load(file: string): Project {
    const version = versionOf(file);
    const known = this.#parsed.get(file);
    if (known?.version === version) return known.project;
    const project = parseProject(file, readFileSync(file, "utf8"));
    this.#parsed.set(file, { version, project });
    return project;
  }
}

/** Changes whenever a file's content may have: an editor may keep the size, and a copy may keep the time. */
function versionOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat) return `${stat.ino}:${stat.mtimeMs}:${stat.size}`;
  throw new TielineError("CONFIG_INVALID", `${file} is not there any more`, {
    remedy: "`tieline init` writes a new one",
    operands: { file },
  });
}

export interface CallerTeam {
  readonly team: string;
  /** The caller's project, if it is this team's. */
  readonly project: Project | null;
}

/** Which team a caller is in: the one it names, by a flag or by TIELINE_TEAM, else that of the nearest tieline.yaml, else `default`. */
export function teamOf(named: string | undefined, cwd: string, projects: Projects): CallerTeam {
  const nearest = projects.at(cwd);
  const team = named || nearest?.team || defaultTeam;
  return { team: checkTeamName(team), project: nearest?.team === team ? nearest : null };
}
