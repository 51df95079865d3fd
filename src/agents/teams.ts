import { unknownTeam } from "../routing/addresses/refusal.ts";
import { defaultTeam, type Project } from "../config/project.ts";
import type { Projects } from "../config/projects.ts";
import { noOverlay, type Overlay } from "../routing/topology/overlay.ts";
import { Claims } from "./directory/claims.ts";
import type { Directory } from "./directory/directory.ts";
import type { Documents } from "./directory/documents/port.ts";

/** What belongs to a team in addition to its agents: the project it lives in, and its run-time edges. */
export interface Teams {
  /** Every team that was founded, by a project or by hand, and every team that has agents. */
  names(): string[];
  /** The founded ones, and `default`, which always exists. */
  founded(): Iterable<string>;
  /** Answers the name, or throws ADDRESS_UNKNOWN with near names. */
  mustExist(team: string): string;
  /** Which project has which team. */
  readonly claims: Claims;
  /**
   * null: the team has no project, or its file was removed. An unclaimed team has the project that was last looked at.
   */
  projectOf(team: string): Project | null;
  overlayOf(team: string): Overlay;
  /** Holds from the next message on. */
  setOverlay(team: string, overlay: Overlay): void;
  /** The record of the team and its run-time edges under another name. Its agents move by themselves. */
  rename(team: string, name: string): void;
  remove(team: string): void;
}

export function teamsOver(directory: Directory, projects: Projects, documents: Documents): Teams {
  const overlays = new Map(documents.all("overlay").map(({ key, value }) => [key, value as Overlay]));

  const claims = new Claims(directory, projects);

  function setOverlay(team: string, overlay: Overlay): void {
    overlays.set(team, overlay);
    documents.put("overlay", team, overlay);
  }

  const founded = (): string[] => [defaultTeam, ...directory.teams().map(({ name }) => name), ...claims.visited()];

  function mustExist(team: string): string {
    const known = new Set([...founded(), ...directory.roster.teams()]);
    if (known.has(team)) return team;
    throw unknownTeam(team, known);
  }

  function remove(team: string): void {
    overlays.delete(team);
    documents.remove("overlay", team);
    directory.removeTeam(team);
  }

  return {
    names: () => [...new Set([...directory.teams().map(({ name }) => name), ...directory.roster.teams()])].toSorted(),
    founded,
    mustExist,
    claims,
    projectOf: (team) => claims.projectOf(team),
    overlayOf: (team) => overlays.get(team) ?? noOverlay,
    setOverlay,
    remove,
    rename(team, name) {
      const { root = null, fileTeam = null } = directory.team(team) ?? {};
      const overlay = overlays.get(team);
      remove(team);
      directory.joinTeam(name, root, fileTeam);
      if (overlay) setOverlay(name, overlay);
    },
  };
}
