import type { Caller } from "../schema.ts";
import type { ResolutionView, TopologyView } from "../schemas/routing.ts";
import { explain } from "../../routing/addresses/resolve.ts";
import type { Switch } from "../../compose/index.ts";
import { agentOf } from "../../agents/start/enlist.ts";
import { isLive, type Agent } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import { formatPlace, type Place } from "../../model/place.ts";
import { partyOf } from "../../routing/directoryRouting.ts";
import { checkEdges, type KnownLabels } from "../../routing/topology/check.ts";
import { parseEdge, type Edge } from "../../routing/topology/edge.ts";
import { exportTopology } from "../../routing/topology/export.ts";
import { addEdges, removeEdges, type Overlay } from "../../routing/topology/overlay.ts";
import { permit, topologyOf } from "../../routing/topology/topology.ts";
import type { Callers } from "../callers.ts";
import type { Operations } from "../../daemon/http.ts";
import type { Rights } from "../rights.ts";

type TopologyOperations = Pick<
  Operations,
  "resolve" | "topology" | "topologyAdd" | "topologyRemove" | "topologyCheck" | "topologyExport"
>;

export function topologyOperations(tieline: Switch, callers: Callers, rights: Rights): TopologyOperations {
  const { directory, lookups, teams } = tieline;
  const knownLabels = knownLabelsOf(tieline);

  return {
    async resolve({ address }, { caller }) {
      const from = await callers.sender(caller);
      const party = partyOf(from, directory);
      const { steps, resolution, error } = explain(address, party, lookups);
      const prospects = (resolution?.startable ?? []).map(({ profile, name, team }) =>
        agentOf(profile, name, team, directory),
      );
      const meant = [...(resolution?.agents ?? []), ...prospects];
      const everyone = resolution?.address.kind === "everyone";
      const permitted = new Set<Agent>(permit(lookups.topology(party.team), party, meant, { everyone }).permitted);
      return {
        address,
        team: party.team,
        steps: [...steps],
        rule: resolution?.rule ?? null,
        agents: meant.map((agent) =>
          meantView(agent, {
            prospect: prospects.includes(agent),
            permitted: permitted.has(agent),
            seen: rights.sees(from, agent),
          }),
        ),
        missing: (resolution?.missing ?? []).map((one) => ({ name: one.name, ...failure(one.error) })),
        error: error && failure(error),
      };
    },

    async topology(_, { caller }) {
      return view(await teamOf(caller));
    },

    /** An unknown name is refused: the edge would look as if it worked. */
    async topologyAdd({ edge, close = false }, { caller }) {
      const { team } = await callers.allow(caller, "topology");
      const edges = parseEdge(edge, team);
      const [problem] = checkEdges(topologyOf({ team, edges }), knownLabels);
      if (problem) throw problem;
      if (lookups.topology(team).edges === null && !close) throw wouldClose(team, edge);
      return overlay(team, addEdges(teams.overlayOf(team), written(team), edges));
    },

    async topologyRemove({ edge }, { caller }) {
      const { team } = await callers.allow(caller, "topology");
      return overlay(team, removeEdges(teams.overlayOf(team), written(team), parseEdge(edge, team)));
    },

    async topologyCheck(_, { caller }) {
      const team = await teamOf(caller);
      const problems = checkEdges(lookups.topology(team), knownLabels).map((problem) => ({
        ...failure(problem),
        place: placeText(problem.operands["place"] as Place | null),
      }));
      return { team, problems };
    },

    async topologyExport({ format }, { caller }) {
      const team = await teamOf(caller);
      return { text: exportTopology(lookups.topology(team), format) };
    },
  };

  /** Of a team that is none, "everyone may write to everyone" would be no answer. */
  async function teamOf(caller: Caller): Promise<string> {
    return teams.mustExist((await callers.sender(caller)).team);
  }

  function written(team: string): readonly Edge[] | null {
    return teams.projectOf(team)?.edges ?? null;
  }

  function overlay(team: string, changed: Overlay): TopologyView {
    teams.setOverlay(team, changed);
    return view(team);
  }

  function view(team: string): TopologyView {
    const { edges, removed } = lookups.topology(team);
    return { team, edges: edges && edges.map(edgeView), removed: removed.map(edgeView) };
  }
}

const edgeView = ({ from, to, origin, places }: Edge): NonNullable<TopologyView["edges"]>[number] => ({
  ...{ from, to, origin },
  place: placeText(places?.from ?? null),
});

/** The first edge of a team ends that every agent may write to every other. */
const wouldClose = (team: string, edge: string): TielineError =>
  new TielineError(
    "CONFLICT",
    `team ${team} has no topology, so every agent may write to every other; after this edge only edges count`,
    {
      remedy: `\`tieline topology add --close "${edge}"\` adds it anyway; over HTTP, pass \`close: true\``,
      operands: { team, edge, closes: true },
    },
  );

/** Names and roles of agents and objects that are there, and of profiles that could be started. */
export function knownLabelsOf({
  teams,
  directory,
  profiles,
}: Pick<Switch, "teams" | "directory" | "profiles">): KnownLabels {
  return (team) => {
    const labels = new Set<string>(teams.projectOf(team)?.declared ?? []);
    const add = ({ name, role }: { name: string; role: string | null }): void =>
      void labels.add(name).add(role ?? name);
    directory.roster.inTeam(team).forEach(add);
    profiles.list(teams.projectOf(team)).forEach(add);
    return labels;
  };
}

function meantView(
  agent: Agent,
  { prospect, permitted, seen }: { prospect: boolean; permitted: boolean; seen: boolean },
): ResolutionView["agents"][number] {
  const now = isLive(agent) ? agent.state : `${agent.state}, offline`;
  const state = prospect ? "not started yet" : seen ? now : "not shown";
  return { name: agent.name, team: agent.team, id: prospect ? null : agent.id, state, permitted };
}

const failure = ({ code, message, remedy }: TielineError) => ({ code, message, remedy });
const placeText = (place: Place | null | undefined): string | null => (place ? formatPlace(place) : null);
