import { TielineError } from "../../model/errors.ts";
import { type Edge, edgeKey, uniqueEdges } from "./edge.ts";

/** Edges that were added or taken away at run time. The project's file stays as its author wrote it. */
export interface Overlay {
  readonly added: readonly Edge[];
  readonly removed: readonly Edge[];
}

export const noOverlay: Overlay = { added: [], removed: [] };

/** The edges that hold. An edge added to a team without a topology makes it one with a topology. */
export function applyOverlay(config: readonly Edge[] | null, { added, removed }: Overlay): readonly Edge[] | null {
  if (config === null && added.length === 0) return null;
  const gone = new Set(removed.map(edgeKey));
  return uniqueEdges([...(config ?? []).filter((edge) => !gone.has(edgeKey(edge))), ...added]);
}

/** The edges of the file that do not apply because they were removed at run time, as the file has them now. */
export function removedEdges(config: readonly Edge[] | null, { removed }: Overlay): readonly Edge[] {
  const gone = new Set(removed.map(edgeKey));
  return (config ?? []).filter((edge) => gone.has(edgeKey(edge)));
}

export function addEdges(overlay: Overlay, config: readonly Edge[] | null, edges: readonly Edge[]): Overlay {
  const wanted = new Set(edges.map(edgeKey));
  const written = new Set((config ?? []).map(edgeKey));
  return {
    removed: overlay.removed.filter((edge) => !wanted.has(edgeKey(edge))),
    added: uniqueEdges([...overlay.added, ...edges.filter((edge) => !written.has(edgeKey(edge)))]),
  };
}

export function removeEdges(overlay: Overlay, config: readonly Edge[] | null, edges: readonly Edge[]): Overlay {
  const holding = new Set((applyOverlay(config, overlay) ?? []).map(edgeKey));
  for (const edge of edges) if (!holding.has(edgeKey(edge))) throw noSuchEdge(edge);
  const unwanted = new Set(edges.map(edgeKey));
  const written = (config ?? []).filter((edge) => unwanted.has(edgeKey(edge)));
  return {
    added: overlay.added.filter((edge) => !unwanted.has(edgeKey(edge))),
    removed: uniqueEdges([...overlay.removed, ...written]),
  };
}

function noSuchEdge(edge: Edge): TielineError {
  return new TielineError("CONFLICT", `there is no edge ${edgeKey(edge)}`, {
    remedy: "`tieline topology show` lists the edges",
    operands: { from: edge.from, to: edge.to },
  });
}
