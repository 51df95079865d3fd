import { existsSync } from "node:fs";
import { join } from "node:path";
import { projectFileName, type Project } from "../config/project.ts";
import type { Projects } from "../config/projects.ts";
import { noOverlay, type Overlay } from "../topology/overlay.ts";
import type { Directory } from "./directory.ts";
import type { Documents } from "./documents/port.ts";

/** What belongs to a team besides its agents: the project it lives in, and its run-time edges. */
export interface Teams {
  /** null: the team has no project, or its file was removed. */
  projectOf(team: string): Project | null;
  overlayOf(team: string): Overlay;
  setOverlay(team: string, overlay: Overlay): void;
}

export function teamsOver(directory: Directory, projects: Projects, documents: Documents): Teams {
  const overlays = new Map(documents.all("overlay").map(({ key, value }) => [key, value as Overlay]));
  return {
    projectOf(team) {
      const root = directory.team(team)?.root;
      const file = root ? join(root, projectFileName) : null;
      return file !== null && existsSync(file) ? projects.load(file) : null;
    },
    overlayOf: (team) => overlays.get(team) ?? noOverlay,
    setOverlay(team, overlay) {
      overlays.set(team, overlay);
      documents.put("overlay", team, overlay);
    },
  };
}
