import { z } from "zod";
import type { Directory } from "../../agents/directory/directory.ts";
import type { Profiles } from "../../agents/profiles/profiles.ts";
import { agentOf } from "../../agents/start/enlist.ts";
import type { Teams } from "../../agents/teams.ts";
import { isLive, userId, userName, type Agent } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import type { Sender } from "../../model/message.ts";
import { formatPlace, type Place } from "../../model/place.ts";
import { explain } from "../../routing/addresses/resolve.ts";
import type { Lookups } from "../../routing/addresses/rules.ts";
import { partyOf } from "../../routing/directoryRouting.ts";
import { checkEdges, type KnownLabels } from "../../routing/topology/check.ts";
import { parseEdge, type Edge } from "../../routing/topology/edge.ts";
import { exportFormats, exportTopology } from "../../routing/topology/export.ts";
import { addEdges, removeEdges, type Overlay } from "../../routing/topology/overlay.ts";
import { isUnbound, permit, topologyOf, type Topology } from "../../routing/topology/topology.ts";
import { agentCalled, type Resolving } from "../addressed.ts";
import type { Callers } from "../callers.ts";
import { operation } from "../operation.ts";
import type { Rights } from "../rights.ts";
import type { Caller } from "../schema.ts";
import { Failure, ResolutionView, TopologyView } from "../schemas/routing.ts";

export interface TopologyParts extends Resolving {
  readonly callers: Callers;
  readonly directory: Directory;
  readonly lookups: Lookups;
  readonly rights: Rights;
  readonly teams: Teams;
  readonly profiles: Profiles;
}

const oneEdge = z.object({ edge: z.string().describe("an edge, such as `coder -> reviewer`") });

export const topologyOperations = [
  operation({
    name: "resolve",
    summary: "Show which agents an address means, and the rule that matched.",
    access: "everyone",
    input: z.object({
      address: z.string().describe("a name, team:name, %pane, @all, @team, @alias, * or user"),
    }),
    output: ResolutionView,
    async run(parts: TopologyParts, { address }, { caller }) {
      const { callers, directory, lookups, rights } = parts;
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
  }),

  operation({
    name: "topology",
    summary: "Show which agents of a team may write to which.",
    access: "everyone",
    input: z.object({
      agent: z.string().optional().describe("an agent of the team: also say who it may write to, and who to it"),
    }),
    output: TopologyView,
    async run(parts: TopologyParts, { agent: address }, { caller }) {
      const from = await parts.callers.sender(caller);
      if (address === undefined) return view(parts, parts.teams.mustExist(from.team));
      const agent = agentCalled(address, from, parts);
      if (!parts.rights.sees(from, agent)) throw notShown(address);
      return { ...view(parts, agent.team), reach: reachOf(parts, agent, from) };
    },
  }),

  /** An unknown name is refused: the edge would look as if it worked. */
  operation({
    name: "topologyAdd",
    summary: "Add an edge at run time.",
    access: "topology",
    input: oneEdge.extend({
      close: z.boolean().optional().describe("even if the team has no topology yet; from then on only edges count"),
    }),
    output: TopologyView,
    async run(parts: TopologyParts, { edge, close = false }, { caller }) {
      const { callers, lookups, teams } = parts;
      const knownLabels = knownLabelsOf(parts);
      const { team } = await callers.allow(caller, "topology");
      const edges = parseEdge(edge, team);
      const [problem] = checkEdges(topologyOf({ team, edges }), knownLabels);
      if (problem) throw problem;
      if (lookups.topology(team).edges === null && !close) throw wouldClose(team, edge);
      return overlay(parts, team, addEdges(teams.overlayOf(team), written(parts, team), edges));
    },
  }),

  operation({
    name: "topologyRemove",
    summary: "Remove an edge at run time.",
    access: "topology",
    input: oneEdge,
    output: TopologyView,
    async run(parts: TopologyParts, { edge }, { caller }) {
      const { callers, teams } = parts;
      const { team } = await callers.allow(caller, "topology");
      return overlay(parts, team, removeEdges(teams.overlayOf(team), written(parts, team), parseEdge(edge, team)));
    },
  }),

  operation({
    name: "topologyCheck",
    summary: "Check the topology of a team for problems.",
    access: "everyone",
    input: z.object({}),
    output: z.object({ team: z.string(), problems: z.array(Failure.extend({ place: z.string().nullable() })) }),
    async run(parts: TopologyParts, _, { caller }) {
      const { lookups } = parts;
      const knownLabels = knownLabelsOf(parts);
      const team = await teamOf(parts, caller);
      const problems = checkEdges(lookups.topology(team), knownLabels).map((problem) => ({
        ...failure(problem),
        place: placeText(problem.operands["place"] as Place | null),
      }));
      return { team, problems };
    },
  }),

  operation({
    name: "topologyExport",
    summary: "Export the topology as text, Mermaid or Graphviz.",
    access: "everyone",
    input: z.object({ format: z.enum(exportFormats).describe("the format") }),
    output: z.object({ text: z.string() }),
    async run(parts: TopologyParts, { format }, { caller }) {
      const { lookups } = parts;
      const team = await teamOf(parts, caller);
      return { text: exportTopology(lookups.topology(team), format) };
    },
  }),
] as const;

/** Of a team that is none, "everyone may write to everyone" would be no answer. */
async function teamOf(parts: TopologyParts, caller: Caller): Promise<string> {
  const { teams, callers } = parts;
  return teams.mustExist((await callers.sender(caller)).team);
}

function written(parts: TopologyParts, team: string): readonly Edge[] | null {
  const { teams } = parts;
  return teams.projectOf(team)?.edges ?? null;
}

function overlay(parts: TopologyParts, team: string, changed: Overlay): TopologyView {
  const { teams } = parts;
  teams.setOverlay(team, changed);
  return view(parts, team);
}

function view(parts: TopologyParts, team: string): TopologyView {
  const { lookups } = parts;
  const { edges, removed } = lookups.topology(team);
  return { team, edges: edges && edges.map(edgeView), removed: removed.map(edgeView) };
}

/** Only agents that the caller may see are named. */
function reachOf(parts: TopologyParts, agent: Agent, from: Sender): NonNullable<TopologyView["reach"]> {
  const { directory, lookups, rights } = parts;
  const topologies = new Map<string, Topology>();
  const topologyFor = ({ team }: Agent): Topology => {
    const known = topologies.get(team) ?? lookups.topology(team);
    topologies.set(team, known);
    return known;
  };
  const others = directory.agents().filter((one) => one.id !== agent.id && rights.sees(from, one));
  const own = topologyFor(agent);
  const nameOf = ({ id, team, name }: Agent): string => (id === userId ? name : `${team}:${name}`);
  // The user writes to every agent, and every agent to the user.
  const user = agent.id === userId ? [] : [userName];
  const listed = (agents: readonly Agent[]): string[] => [...agents.map(nameOf).toSorted(), ...user];
  return {
    agent: nameOf(agent),
    everyone: isUnbound(agent) || own.edges === null,
    mayWriteTo: listed(permit(own, agent, others).permitted),
    mayBeWrittenBy: listed(others.filter((one) => permit(topologyFor(one), one, [agent]).permitted.length > 0)),
  };
}

const notShown = (address: string): TielineError =>
  new TielineError("ADDRESS_UNKNOWN", `there is no agent ${address} that you may see`, {
    remedy: "`tieline ls` lists the agents",
    operands: { address },
  });

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

export interface KnownLabelParts {
  readonly teams: Pick<Teams, "projectOf">;
  readonly directory: Pick<Directory, "roster">;
  readonly profiles: Pick<Profiles, "list">;
}

/** Names and roles of agents and objects that are there, and of profiles that could be started. */
export function knownLabelsOf({ teams, directory, profiles }: KnownLabelParts): KnownLabels {
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
