/** What the graph shows: agents by address, the edges of their topologies, and the mail that the daemon counted. */
import { computed, signal } from "@preact/signals";
import type { Output } from "../../src/client/browser.ts";
import { inTeam } from "../api.ts";
import { agents, team, teamNames, topologies, type AgentCell } from "../state.ts";

export interface GraphNode {
  /** `team:name`, or `user`. Names are unique only in a team. */
  readonly key: string;
  readonly name: string;
  readonly cell: AgentCell | null;
}

export interface GraphLine {
  /** The keys of its ends. */
  readonly from: string;
  readonly to: string;
  readonly count: number;
  /** As the topology of the team has it; null: not an edge, only mail. */
  readonly edge: { readonly team: string; readonly from: string; readonly to: string; readonly origin: string } | null;
}

export const lineKey = ({ from, to }: { readonly from: string; readonly to: string }): string => `${from} -> ${to}`;

/** Mail between agents as long as messages are kept. */
const counted = signal<Output<"edges">>({ edges: [], allEdges: 0 });
export const loadEdges = async (): Promise<void> => {
  counted.value = await inTeam(null).call("edges", {});
};
/** How many of the pairs with mail are drawn, if not all. */
export const leftOut = computed(() => counted.value.allEdges - counted.value.edges.length);

export const shownTeams = computed<readonly string[]>(() => (team.value === null ? teamNames.value : [team.value]));

/** The key of a label in a team's topology, or in an event of that team. */
export const keyIn = (of: string | null, label: string): string =>
  label === "user" || label.includes(":") || of === null ? label : `${of}:${label}`;

type End = Output<"edges">["edges"][number]["from"];
/** Null: it is not drawn, because it was removed or is Tieline itself. */
const keyOfEnd = ({ name, team: of, removed }: End): string | null =>
  removed ? null : name === "user" ? name : of === null ? null : `${of}:${name}`;

export const lines = computed<readonly GraphLine[]>(() => {
  const all = new Map<string, GraphLine>();
  for (const of of shownTeams.value)
    for (const { from, to, origin } of topologies.value.get(of)?.edges ?? []) {
      const line = { from: keyIn(of, from), to: keyIn(of, to), count: 0, edge: { team: of, from, to, origin } };
      if (from !== "*" && to !== "*") all.set(lineKey(line), line);
    }
  const isShown = (key: string): boolean => shownTeams.value.some((of) => key.startsWith(`${of}:`));
  for (const { from, to, count } of counted.value.edges) {
    const [a, b] = [keyOfEnd(from), keyOfEnd(to)];
    if (a === null || b === null || !(isShown(a) || isShown(b))) continue;
    const key = lineKey({ from: a, to: b });
    all.set(key, { ...(all.get(key) ?? { from: a, to: b, edge: null }), count });
  }
  return [...all.values()];
});

export const nodes = computed<readonly GraphNode[]>(() => {
  const cells = new Map(agents.value.map((cell) => [`${cell.view.value.team}:${cell.view.value.name}`, cell]));
  const own = [...cells].filter(([, { view }]) => shownTeams.value.includes(view.value.team)).map(([key]) => key);
  const keys = new Set([...own, ...lines.value.flatMap(({ from, to }) => [from, to]), "user"]);
  return [...keys].toSorted().map((key) => ({ key, name: nameOf(key), cell: cells.get(key) ?? null }));
});

const nameOf = (key: string): string => key.slice(key.indexOf(":") + 1);

/** The name alone where only one node has it. */
const labels = computed<ReadonlyMap<string, string>>(() => {
  const times = new Map<string, number>();
  for (const { name } of nodes.value) times.set(name, (times.get(name) ?? 0) + 1);
  return new Map(nodes.value.map(({ key, name }) => [key, times.get(name) === 1 ? name : key]));
});
export const labelOf = (key: string): string => labels.value.get(key) ?? key;
