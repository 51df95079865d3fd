import type { Roster } from "../../routing/addresses/roster.ts";
import type { Lookups } from "../../routing/addresses/rules.ts";
import type { Project } from "../../config/project.ts";
import { noOverlay, type Overlay } from "../../routing/topology/overlay.ts";
import { type Topology, topologyOf } from "../../routing/topology/topology.ts";
import type { Profiles } from "../profiles/profiles.ts";

export interface LookupSources {
  readonly roster: Roster;
  readonly profiles: Pick<Profiles, "lookup" | "names">;
  /** The project to which a team belongs; the same object until its file changes. */
  projectOf(team: string): Project | null;
  /** The team's run-time edges; the same object until they change. */
  overlayOf?(team: string): Overlay;
  foundedTeams?(): Iterable<string>;
  nativeMembers?: Lookups["nativeMembers"];
  nativeNames?(): Iterable<string>;
}

/** What addressing reads, put together from the directory. A topology is made again only when its sources change. */
export function lookupsOver(sources: LookupSources): Lookups {
  const { roster, profiles } = sources;
  const topologies = new Map<string, { project: Project | null; overlay: Overlay; topology: Topology }>();

  function topology(team: string): Topology {
    const project = sources.projectOf(team);
    const overlay = sources.overlayOf?.(team) ?? noOverlay;
    const known = topologies.get(team);
    if (known && known.project === project && known.overlay === overlay) return known.topology;
    const made = topologyOf({ team, edges: project?.edges ?? null, overlay, declared: project?.declared ?? [] });
    topologies.set(team, { project, overlay, topology: made });
    return made;
  }

  return {
    roster,
    topology,
    profile: (team, name) => profiles.lookup(sources.projectOf(team), name),
    profileNames: (team) => profiles.names(sources.projectOf(team)),
    alias: (team, name) => sources.projectOf(team)?.aliases.get(name) ?? null,
    aliasNames: (team) => sources.projectOf(team)?.aliases.keys() ?? [],
    foundedTeams: () => sources.foundedTeams?.() ?? [],
    nativeMembers: (asker, team, name) => sources.nativeMembers?.(asker, team, name) ?? { agents: [], own: false },
    nativeNames: () => sources.nativeNames?.() ?? [],
  };
}
