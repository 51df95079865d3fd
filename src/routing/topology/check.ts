import { userName, systemObjects } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import { didYouMean, nearNames } from "../../model/near.ts";
import { formatPlace, type Place } from "../../model/place.ts";
import { anyone, type Edge, splitLabel } from "./edge.ts";
import { allowedTargets, type Party, type Topology } from "./topology.ts";

/** Who could stand behind a label: agents, objects, profiles and roles of a team. */
export type KnownLabels = (team: string) => ReadonlySet<string>;

/** Each costs a search for similar names, and correcting these shows the next. */
const maxProblems = 20;

/**
 * One error for each unknown end of an edge, with its place in the file: the first 20 of them, or of those in one team.
 */
export function checkEdges(topology: Topology, knownLabels: KnownLabels, only?: string): TielineError[] {
  const problems: TielineError[] = [];
  const reported = new Set<string>();
  const teams = new Map<string, ReadonlySet<string>>();
  const known: KnownLabels = (team) => {
    const labels = teams.get(team) ?? knownLabels(team);
    teams.set(team, labels);
    return labels;
  };
  for (const edge of topology.edges ?? []) {
    for (const side of ["from", "to"] as const) {
      const label = edge[side];
      const [owner] = splitLabel(label, topology.team);
      if (reported.has(label) || (only ?? owner) !== owner || isKnown(label, topology.team, known)) continue;
      reported.add(label);
      problems.push(unknownLabel(label, topology.team, known, edge.places?.[side] ?? null));
      if (problems.length === maxProblems) return problems;
    }
  }
  return problems;
}

/** The error when a sender may not write to some or all of its recipients. */
export function routeDenied(topology: Topology, from: Party, to: readonly Pick<Party, "id" | "name">[]): TielineError {
  const names = to.map(({ name }) => name).join(", ");
  const allowed = allowedTargets(topology, from);
  if (to.length > 0 && to.every(({ id }) => id === from.id)) {
    return new TielineError("ROUTE_DENIED", `${from.name} cannot write to itself`, {
      remedy: "write to another agent; `tieline ls` lists them",
      operands: { from: from.name, to: [from.name], allowed },
    });
  }
  return new TielineError(
    "ROUTE_DENIED",
    `the topology of team ${topology.team} does not let ${from.name} write to ${names}`,
    {
      remedy: `${from.name} may write to: ${allowed.join(", ")}`,
      operands: { from: from.name, to: to.map(({ name }) => name), team: topology.team, allowed },
    },
  );
}

/** The error for a sender that may not write to everyone. */
export function everyoneDenied(topology: Topology, from: Party): TielineError {
  return new TielineError(
    "ROUTE_DENIED",
    `${from.name} may not write to * (every live agent on this host); @all means the agents it may write ` + "to",
    {
      remedy: `* needs an edge "${from.name} -> *" or \`may: [broadcast-all]\``,
      operands: { from: from.name, to: ["*"], team: topology.team, allowed: allowedTargets(topology, from) },
    },
  );
}

/** Is a label written anywhere in this topology? Then the name is known, and nothing being there is not a slip. */
export function mentions(topology: Topology, label: string): boolean {
  return (topology.edges ?? []).some((edge: Edge) => edge.from === label || edge.to === label);
}

function isKnown(label: string, team: string, known: KnownLabels): boolean {
  const [owner, name] = splitLabel(label, team);
  return [anyone, userName, ...systemObjects].includes(name) || known(owner).has(name);
}

function unknownLabel(label: string, team: string, known: KnownLabels, place: Place | null): TielineError {
  const [owner, name] = splitLabel(label, team);
  const near = nearNames(name, known(owner));
  const where = place ? `${formatPlace(place)}: ` : "";
  return new TielineError("CONFIG_INVALID", `${where}no agent or role "${name}" in team ${owner}${didYouMean(near)}`, {
    remedy: `correct the edge, add ${name} under agents:, or adopt it first`,
    operands: { label, team: owner, near, place },
  });
}
