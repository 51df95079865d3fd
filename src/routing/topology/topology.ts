import { type Agent, userId, systemObjects } from "../../model/agent.ts";
import { anyone, type Edge, uniqueEdges } from "./edge.ts";
import { applyOverlay, noOverlay, removedEdges, type Overlay } from "./overlay.ts";

/**
 * Who may write to whom, as one team sees it. The sender's team decides alone; a team without a topology lets its
 * agents write to anyone.
 *
 * A label covers the agent of that name, the agents started from the profile of that name (`ana-2` has the edges of
 * `ana`), and, when the project declares no agent of that name, the agents with that role.
 */
export interface Topology {
  readonly team: string;
  /** Without repetitions, as written; null: no topology. */
  readonly edges: readonly Edge[] | null;
  /** Edges of the project's file that were removed at run time. */
  readonly removed: readonly Edge[];
  /** The same by sender, for lookup: the targets of each, and where their edges stand in the list. */
  readonly targets: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly declared: ReadonlySet<string>;
}

export interface TopologySource {
  readonly team: string;
  /** From the project's file; null: it has no topology. */
  readonly edges?: readonly Edge[] | null;
  readonly overlay?: Overlay;
  /** Names of the project's agents and objects: as labels they are names and never roles. */
  readonly declared?: Iterable<string>;
}

/** What a decision needs to know of a participant. */
export type Party = Pick<Agent, "id" | "name" | "team" | "kind" | "role" | "profile" | "may">;

export interface PermitOptions {
  /** A reply goes back along any message. */
  readonly reply?: boolean;
  /** Written to `*`: decided once for the sender, not for each recipient. */
  readonly everyone?: boolean;
}

export interface Decision<P extends Party> {
  readonly permitted: readonly P[];
  readonly denied: readonly P[];
}

export function topologyOf({ team, edges = null, overlay = noOverlay, declared = [] }: TopologySource): Topology {
  const effective = applyOverlay(edges && uniqueEdges(edges), overlay);
  const removed = removedEdges(edges && uniqueEdges(edges), overlay);
  const targets = new Map<string, Map<string, number>>();
  for (const [position, { from, to }] of (effective ?? []).entries()) {
    const known = targets.get(from);
    if (known) known.set(to, position);
    else targets.set(from, new Map([[to, position]]));
  }
  return { team, edges: effective, removed, targets, declared: new Set(declared) };
}

export const openTopology = (team: string): Topology => topologyOf({ team });

export function permit<P extends Party>(
  topology: Topology,
  from: Party,
  to: readonly P[],
  { reply = false, everyone = false }: PermitOptions = {},
): Decision<P> {
  const permitted: P[] = [];
  const denied: P[] = [];
  const all = everyone && mayReachEveryone(topology, from);
  for (const party of to) {
    const allowed = everyone ? all && party.id !== from.id : mayWrite(topology, from, party, reply);
    (allowed ? permitted : denied).push(party);
  }
  return { permitted, denied };
}

function mayWrite(topology: Topology, from: Party, to: Party, reply: boolean): boolean {
  if (from.id === to.id) return false;
  if (reply || isUnbound(from) || isUnbound(to)) return true;
  return topology.edges === null || hasEdge(topology, from, to);
}

/** The user and the system objects write and are written to without an edge. */
export const isUnbound = (party: Party): boolean => party.id === userId || isSystemObject(party);

const isSystemObject = (party: Pick<Agent, "kind" | "name">): boolean =>
  party.kind === "object" && (systemObjects as readonly string[]).includes(party.name);

/** `*` is for the user, for senders with an edge to everyone, and for profiles that may broadcast-all. */
function mayReachEveryone(topology: Topology, from: Party): boolean {
  if (isUnbound(from) || from.may.includes("broadcast-all")) return true;
  return ends(topology, from).some((end) => topology.targets.get(end)?.has(anyone));
}

function hasEdge(topology: Topology, from: Party, to: Party): boolean {
  const targetLabels = [anyone, ...labelsOf(topology, to)];
  return ends(topology, from).some((end) => {
    const targets = topology.targets.get(end);
    return targets !== undefined && targetLabels.some((label) => targets.has(label));
  });
}

/** The sender's side: `*` there means the agents of this team. */
const ends = (topology: Topology, from: Party): string[] => [...labelsOf(topology, from), anyone];

/** The labels that cover a participant, as this topology writes them. */
function labelsOf(topology: Topology, party: Party): string[] {
  const ours = party.team === topology.team;
  const labels = [party.name];
  if (party.profile !== null && party.profile !== party.name) labels.push(party.profile);
  const roleCounts = party.role !== null && !(ours && topology.declared.has(party.role));
  if (roleCounts && !labels.includes(party.role!)) labels.push(party.role!);
  return ours ? labels : labels.map((label) => `${party.team}:${label}`);
}

/** The edges of a sender in the order in which they were written; null when its team has no topology. */
export function outEdges(topology: Topology, from: Party): readonly Edge[] | null {
  if (topology.edges === null) return null;
  const positions = ends(topology, from).flatMap((end) => [...(topology.targets.get(end)?.values() ?? [])]);
  return positions.toSorted((a, b) => a - b).map((position) => topology.edges![position]!);
}

/**
 * Whom a sender may write to, for people: labels in order, `*` for anyone, and always the user. Asked for every
 * message.
 */
export function allowedTargets(topology: Topology, from: Party): string[] {
  if (isUnbound(from) || topology.edges === null) return [anyone];
  const labels = outEdges(topology, from)!.map((edge) => edge.to);
  return [...new Set([...labels, "user"])];
}
