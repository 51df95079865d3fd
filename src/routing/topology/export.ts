import { type Edge, edgeKey } from "./edge.ts";
import type { Topology } from "./topology.ts";

export const exportFormats = ["text", "mermaid", "graphviz"] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** Run-time edges are marked in every format: by a comment, or by a dashed line. Removed ones are comments. */
export function exportTopology(topology: Topology, format: ExportFormat): string {
  return writers[format](topology, topology.edges ?? []);
}

type Writer = (topology: Topology, edges: readonly Edge[]) => string;

const writers: Record<ExportFormat, Writer> = {
  text: ({ team, edges, removed }) => {
    if (edges === null) return `# team ${team} has no topology: everyone may write to everyone\n`;
    const holding = edges.map((edge) => edgeKey(edge) + (isRunTime(edge) ? "  # run time" : ""));
    return lines([...holding, ...commented("#", removed)]);
  },

  mermaid: ({ removed }, edges) => {
    const nodes = numbered(edges);
    return lines([
      "flowchart LR",
      ...[...nodes].map(([label, id]) => `  ${id}["${label}"]`),
      ...edges.map((edge) => `  ${nodes.get(edge.from)} ${isRunTime(edge) ? "-.->" : "-->"} ${nodes.get(edge.to)}`),
      ...commented("  %%", removed),
    ]);
  },

  graphviz: ({ team, removed }, edges) =>
    lines([
      `digraph ${JSON.stringify(team)} {`,
      "  rankdir=LR;",
      ...edges.map(({ from, to, origin }) => {
        const style = origin === "run time" ? " [style=dashed]" : "";
        return `  ${JSON.stringify(from)} -> ${JSON.stringify(to)}${style};`;
      }),
      ...commented("  //", removed),
      "}",
    ]),
};

const commented = (mark: string, removed: readonly Edge[]): string[] =>
  removed.map((edge) => `${mark} ${edgeKey(edge)} (removed at run time)`);

const isRunTime = (edge: Edge): boolean => edge.origin === "run time";
const lines = (text: readonly string[]): string => text.map((line) => `${line}\n`).join("");

/** Names may be words of the Mermaid language (`end`), so nodes get numbers. */
function numbered(edges: readonly Edge[]): Map<string, string> {
  const labels = new Set(edges.flatMap(({ from, to }) => [from, to]));
  return new Map([...labels].map((label, index) => [label, `n${index}`]));
}
