/** Which team a directory belongs to. Reading only looks; acting claims the team for the directory's project. */
import { existsSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { defaultTeam, projectFileName, type Project } from "../../config/project.ts";
import type { Projects } from "../../config/projects.ts";
import { checkTeamName, cleanTeamName } from "../../model/address.ts";
import { TielineError } from "../../model/errors.ts";
import type { Directory } from "./directory.ts";

/** A caller's team, and what ties it to the directory that the call comes from. */
export interface TeamSeat {
  readonly team: string;
  /** The nearest project, if its team is the one that is meant. */
  readonly project: Project | null;
  /** The root of another project that has this team, where the caller's project gives itself the same name. */
  readonly heldBy: string | null;
}

export class Claims {
  /** The root from which an unclaimed team was last looked at, so that its file can be shown. Kept in memory only. */
  private readonly visits = new Map<string, string>();

  constructor(
    private readonly directory: Directory,
    private readonly projects: Projects,
  ) {}

  /**
   * The team that the caller names, by a flag or by TIELINE_TEAM, else that of the nearest tieline.yaml, else
   * `default`. A caller that names a team means the team of that name, wherever its project is.
   */
  seatOf(named: string | undefined, cwd: string): TeamSeat {
    const project = this.projects.at(cwd);
    const own = project === null ? defaultTeam : this.nameOf(project);
    const team = checkTeamName(named || own);
    if (project === null || team !== own) return { team, project: null, heldBy: null };
    const holder = this.holderOf(team);
    if (holder === null) this.visits.set(team, project.root);
    if (holder === null || isSameDirectory(holder, project.root)) return { team, project, heldBy: null };
    return named ? { team, project: null, heldBy: null } : { team, project, heldBy: holder };
  }

  /** Makes the team that of the caller's project. CONFLICT: another project has it. */
  claim({ team, project, heldBy }: TeamSeat): void {
    if (project === null) return;
    if (heldBy !== null) throw this.taken(team, heldBy, project.root);
    const before = this.directory.team(team);
    if (before?.root === project.root && before.fileTeam === project.team) return;
    this.directory.joinTeam(team, project.root, project.team);
    if (before?.root && before.root !== project.root) this.move(team, before.root, project.root);
  }

  /** Founds a team by hand. In a project whose own team is taken, the new one becomes the project's. */
  found(team: string, cwd: string): void {
    const { project, heldBy, team: own } = this.seatOf(undefined, cwd);
    if (project === null) {
      if (this.directory.team(team) === null) this.directory.joinTeam(team, null, null);
      return;
    }
    if (heldBy === null) this.claim({ team: own, project, heldBy });
    if (heldBy === null && own === team) return;
    const holder = this.holderOf(team);
    if (holder !== null && !isSameDirectory(holder, project.root)) throw this.taken(team, holder, project.root);
    this.directory.joinTeam(team, project.root, heldBy === null ? null : project.team);
  }

  /** The teams of the project in this directory, claimed or only looked at. */
  teamsAt(wanted: string): string[] {
    return [...this.roots()].flatMap(([team, root]) => (root === wanted ? [team] : []));
  }

  /** Teams of projects that were looked at. */
  visited(): Iterable<string> {
    return this.visits.keys();
  }

  /** Where teams are, claimed or only looked at. */
  roots(): ReadonlyMap<string, string> {
    const claimed = this.directory.teams().flatMap(({ name, root }) => (root === null ? [] : [[name, root] as const]));
    return new Map([...this.visits, ...claimed]);
  }

  /** The root that has the team. null: it was never claimed, or its project has moved, is gone or has another name. */
  holderOf(team: string): string | null {
    const { root = null, fileTeam = null } = this.directory.team(team) ?? {};
    const file = root === null ? null : join(root, projectFileName);
    if (file === null || !existsSync(file)) return null;
    return fileTeam === null || this.isNamed(fileTeam, file) ? root : null;
  }

  /** The project that has the team, else the one from which it was last looked at. */
  projectOf(team: string): Project | null {
    const root = this.holderOf(team) ?? this.visits.get(team) ?? null;
    const file = root === null ? null : join(root, projectFileName);
    return file !== null && existsSync(file) ? this.projects.load(file, team) : null;
  }

  /**
   * The team of a project: the one assigned to it, else what its file says, else the next free name after its
   * directory.
   */
  nameOf({ root, team, isTeamStated }: Project): string {
    const standsFor = this.directory.teams().filter((one) => one.fileTeam === team && one.root === root);
    const known = standsFor.find(({ name }) => name === team) ?? standsFor[0];
    if (known !== undefined || isTeamStated) return known?.name ?? team;
    return this.freeName(team, root);
  }

  /** `app`, `app-2`, …: the first that no other project has. */
  freeName(wanted: string, root: string): string {
    const isFree = (name: string): boolean => {
      const holder = this.holderOf(name);
      return holder === null || isSameDirectory(holder, root);
    };
    let name = wanted;
    for (let number = 2; !isFree(name); number++) name = `${wanted}-${number}`;
    return name;
  }

  /** A file with a mistake in it has not given up its team; commands in that project report the mistake. */
  private isNamed(team: string, file: string): boolean {
    try {
      return this.projects.load(file).team === team;
    } catch {
      return true;
    }
  }

  /** Directories that were chosen inside the old root are looked for below the new one. */
  private move(team: string, from: string, to: string): void {
    for (const { id, launch } of this.directory.roster.inTeam(team)) {
      const cwd = launch?.cwd;
      if (typeof cwd !== "string" || !`${cwd}/`.startsWith(`${from}/`)) continue;
      this.directory.update(id, { launch: { ...launch!, cwd: join(to, cwd.slice(from.length)) } });
    }
  }

  /** The remedies are commands that work where the conflict is. */
  taken(team: string, holder: string, root: string): TielineError {
    const own = this.freeName(cleanTeamName(`${team}-${basename(root)}`) ?? `${team}-2`, root);
    return new TielineError("CONFLICT", `team ${team} belongs to ${holder}, not to ${root}`, {
      remedy:
        `\`tieline team create ${own}\` gives ${root} its own team; \`--team ${team}\` uses the one of ` +
        `${holder}; \`tieline team disband ${team}\` frees the name`,
      operands: { team, roots: [holder, root], own },
    });
  }
}

/** A link may lead to where a project was before. */
function isSameDirectory(a: string, b: string): boolean {
  if (a === b) return true;
  const [one, other] = [a, b].map((path) => statSync(path, { throwIfNoEntry: false }));
  return one !== undefined && other !== undefined && one.ino === other.ino && one.dev === other.dev;
}
