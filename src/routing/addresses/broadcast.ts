import { type Address, formatAddress, parseAddress } from "../../model/address.ts";
import { type Agent, isLive, userName } from "../../model/agent.ts";
import { asTielineError, TielineError } from "../../model/errors.ts";
import { anyone, splitLabel } from "../topology/edge.ts";
import { isUnbound, outEdges, type Topology } from "../topology/topology.ts";
import { unknownGroup, unknownTeam } from "./refusal.ts";
import type { AddressExplanation, Resolution } from "./resolution.ts";
import {
  type Asker,
  isSystemObjectName,
  type Lookups,
  type SingleAddress,
  type Startable,
  startableIn,
} from "./rules.ts";

type Broadcast = Exclude<Address, SingleAddress>;
type ResolveSingle = (address: SingleAddress, asker: Asker, lookups: Lookups) => AddressExplanation;
type Missing = Resolution["missing"][number];

/** Several recipients: who is there, who could be started, and who is meant but absent. */
interface Members {
  readonly agents: readonly Agent[];
  readonly startable?: readonly Startable[];
  readonly missing?: readonly Missing[];
  readonly why: string;
}

export interface ResolveOptions {
  /** A team means those too that its project declares and nothing has started yet. */
  readonly spawn?: boolean;
}

export function resolveBroadcast(
  address: Broadcast,
  asker: Asker,
  lookups: Lookups,
  resolveSingle: ResolveSingle,
  { spawn = false }: ResolveOptions,
): AddressExplanation {
  const team: TeamMembers = (name) => membersOfTeam(name, asker, lookups, spawn);
  switch (address.kind) {
    case "everyone":
      return found(address, "everyone", asker, membersOfHost(lookups));
    case "all":
      return resolveAll(address, asker, lookups, team);
    case "group":
      return resolveGroup(address, asker, lookups, resolveSingle, team);
  }
}

type TeamMembers = (team: string) => Members;

function membersOfHost({ roster }: Lookups): Members {
  const agents = [...roster.all()].filter((agent) => isOrdinary(agent) && isLive(agent));
  return { agents, why: "every live agent on this host" };
}

function membersOfTeam(team: string, asker: Asker, lookups: Lookups, spawn: boolean): Members {
  const { roster, topology } = lookups;
  const missing = spawn ? [...topology(team).declared].filter((name) => roster.named(team, name) === null) : [];
  const startable = missing
    .flatMap((name) => startableIn(team, name, asker, lookups) ?? [])
    .filter(({ profile }) => profile.origin === "project");
  return { agents: roster.inTeam(team).filter(isOrdinary), startable, why: `the members of team ${team}` };
}

/** Only the user can name a team that does not exist. */
function resolveAll(address: Broadcast, asker: Asker, lookups: Lookups, team: TeamMembers): AddressExplanation {
  const teams = teamsIn(lookups);
  if (teams.has(asker.team)) return found(address, "all", asker, membersOfAll(asker, lookups, team));
  return refused(address, "all", "the sender's team does not exist", unknownTeam(asker.team, teams));
}

const teamsIn = ({ roster, foundedTeams }: Lookups): ReadonlySet<string> =>
  new Set([...roster.teams(), ...(foundedTeams?.() ?? [])]);

/** `@team` is the sender's own team. A word that is both a team and an alias is ambiguous. */
function resolveGroup(
  address: Broadcast & { kind: "group" },
  asker: Asker,
  lookups: Lookups,
  resolveSingle: ResolveSingle,
  members: TeamMembers,
): AddressExplanation {
  const team = address.name === "team" ? asker.team : address.name;
  const teams = teamsIn(lookups);
  const isTeam = teams.has(team);
  const alias = lookups.alias(asker.team, address.name);
  if (isTeam && alias)
    return refused(address, "alias", "a team and an alias have this name", teamOrAlias(address.name));
  if (alias) return found(address, "alias", asker, membersOfAlias(alias, asker, lookups, resolveSingle));
  if (isTeam) return found(address, "team", asker, members(team));
  const error =
    team === asker.team
      ? unknownTeam(team, teams)
      : unknownGroup(address.name, asker, teams, lookups.aliasNames(asker.team));
  return refused(address, "team", "neither a team nor an alias", error);
}

/** The sender's out-edges; without a topology, and for those whom none binds, the team. */
function membersOfAll(asker: Asker, lookups: Lookups, team: TeamMembers): Members {
  const topology = lookups.topology(asker.team);
  const edges = isUnbound(asker) ? null : outEdges(topology, asker);
  if (edges === null || edges.some((edge) => edge.to === anyone)) {
    return team(asker.team);
  }
  const agents: Agent[] = [];
  const startable: Startable[] = [];
  const missing: Missing[] = [];
  for (const label of new Set(edges.map((edge) => edge.to))) {
    if (label === userName || isSystemObjectName(label)) continue;
    const covered = coveredBy(label, topology, lookups);
    agents.push(...covered.filter(isOrdinary));
    if (covered.length > 0) continue;
    const profile = startableIn(...splitLabel(label, asker.team), asker, lookups);
    if (profile) startable.push(profile);
    else missing.push({ name: label, error: nothingBehind(label) });
  }
  return { agents, startable, missing, why: `the out-edges of ${asker.name}` };
}

/** The other direction of `labelsOf`: all agents that a label of this topology covers. */
function coveredBy(label: string, topology: Topology, { roster }: Lookups): Agent[] {
  const [team, name] = splitLabel(label, topology.team);
  const holder = roster.named(team, name);
  const isRole = !(team === topology.team && topology.declared.has(name));
  return [...(holder ? [holder] : []), ...roster.ofProfile(team, name), ...(isRole ? roster.withRole(team, name) : [])];
}

function membersOfAlias(
  members: readonly string[],
  asker: Asker,
  lookups: Lookups,
  resolveSingle: ResolveSingle,
): Members {
  const agents: Agent[] = [];
  const startable: Startable[] = [];
  const missing: Missing[] = [];
  for (const name of members) {
    const { resolution, error } = resolveMember(name, asker, lookups, resolveSingle);
    if (error) missing.push({ name, error });
    agents.push(...(resolution?.agents ?? []));
    startable.push(...(resolution?.startable ?? []));
  }
  return { agents, startable, missing, why: `the alias means ${members.join(", ")}` };
}

function resolveMember(
  text: string,
  asker: Asker,
  lookups: Lookups,
  resolveSingle: ResolveSingle,
): Pick<AddressExplanation, "resolution" | "error"> {
  try {
    const address = parseAddress(text);
    if (address.kind === "name" || address.kind === "pane") return resolveSingle(address, asker, lookups);
    return { resolution: null, error: nestedAlias(text) };
  } catch (thrown) {
    return { resolution: null, error: asTielineError(thrown) };
  }
}

function found(address: Broadcast, rule: Resolution["rule"], asker: Asker, members: Members): AddressExplanation {
  const others = new Map(members.agents.filter((agent) => agent.id !== asker.id).map((agent) => [agent.id, agent]));
  const { startable = [], missing = [], why } = members;
  const step = { rule, says: says[address.kind], hit: true, why };
  return {
    steps: [step],
    resolution: { address, rule, agents: [...others.values()], startable, missing },
    error: null,
  };
}

const says: Record<Broadcast["kind"], string> = {
  all: "@all means all agents the sender has an edge to",
  group: "@name is a team or an alias",
  everyone: "* is every live agent on this host",
};

const refused = ({ kind }: Broadcast, rule: string, why: string, error: TielineError): AddressExplanation => ({
  steps: [{ rule, says: says[kind], hit: false, why }],
  resolution: null,
  error,
});

/** Broadcasts are for agents and objects; the user and the system objects are written to by name. */
const isOrdinary = (agent: Agent): boolean => !isUnbound(agent);

function nothingBehind(label: string): TielineError {
  return new TielineError("TARGET_NOT_FOUND", `the topology names ${label}, but nothing is behind it`, {
    remedy: `start or adopt ${label}`,
    operands: { address: label },
  });
}

function teamOrAlias(name: string): TielineError {
  return new TielineError("ADDRESS_AMBIGUOUS", `@${name} is both a team and an alias`, {
    remedy: "rename the alias in tieline.yaml",
    operands: { address: `@${name}`, candidates: [`team ${name}`, `alias ${name}`] },
  });
}

function nestedAlias(text: string): TielineError {
  return new TielineError("ADDRESS_UNKNOWN", `an alias cannot contain ${formatAddress(parseAddress(text))}`, {
    remedy: "list names in the alias, not other groups",
    operands: { address: text },
  });
}
