import { maxNameLength, namePattern } from "../../model/agent.ts";
import { isTeamName } from "../../model/address.ts";
import { TielineError } from "../../model/errors.ts";
import { formatPlace, type Place } from "../../model/place.ts";

/** Every agent, as one end of an edge. */
export const anyone = "*";

/**
 * One permission to write. Its ends are labels: `coder`, `api:lead` in another team, or `*`. Edges are directed;
 * `a <-> b` is a way of writing two.
 */
export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly origin: EdgeOrigin;
  /** Where each end is written; null for edges that no file holds. */
  readonly places: { readonly from: Place; readonly to: Place } | null;
}

export type EdgeOrigin = "config" | "run time";

export const edgeKey = (edge: Pick<Edge, "from" | "to">): string => `${edge.from} -> ${edge.to}`;

const edgePattern = /^(\s*)(\S+?)(\s*(<?->)\s*)(\S+)\s*$/d;

/** Reads `researcher -> coder`, `coder <-> reviewer` or `lead -> *`, as written in `team`. */
export function parseEdge(text: string, team: string, place: Place | null = null): Edge[] {
  const match = edgePattern.exec(text);
  const from = match && labelIn(team, match[2]!);
  const to = match && labelIn(team, match[5]!);
  if (!match || !from || !to) throw notAnEdge(text, place);

  const [fromPlace, toPlace] = [after(place, match.indices![2]![0]), after(place, match.indices![5]![0])];
  const bothWays = match[4] === "<->";
  if (from.includes(":")) throw foreignSender(text, team, from, to, fromPlace);
  if (bothWays && to.includes(":")) throw foreignSender(text, team, to, from, toPlace);

  const origin: EdgeOrigin = place ? "config" : "run time";
  const forth: Edge = { from, to, origin, places: fromPlace && toPlace && { from: fromPlace, to: toPlace } };
  if (!bothWays) return [forth];
  return [forth, { from: to, to: from, origin, places: fromPlace && toPlace && { from: toPlace, to: fromPlace } }];
}

/** Without repetitions; the first of equal edges stays where it was. */
export function uniqueEdges(edges: readonly Edge[]): Edge[] {
  const seen = new Map<string, Edge>();
  for (const edge of edges) if (!seen.has(edgeKey(edge))) seen.set(edgeKey(edge), edge);
  return [...seen.values()];
}

/** The team and the name that a label means in `team`'s topology. */
export function splitLabel(label: string, team: string): [team: string, name: string] {
  const colon = label.lastIndexOf(":");
  return colon < 0 ? [team, label] : [label.slice(0, colon), label.slice(colon + 1)];
}

/** A label as seen from `team`, whose own prefix is dropped; null if it is none. */
function labelIn(team: string, text: string): string | null {
  if (text === anyone) return anyone;
  const colon = text.lastIndexOf(":");
  const name = text.slice(colon + 1);
  if (!namePattern.test(name) || name.length > maxNameLength) return null;
  if (colon < 0) return name;
  const prefix = text.slice(0, colon);
  if (!isTeamName(prefix)) return null;
  return prefix === team ? name : text;
}

const after = (place: Place | null, characters: number): Place | null =>
  place && { ...place, column: place.column + characters };

function notAnEdge(text: string, place: Place | null): TielineError {
  return new TielineError("CONFIG_INVALID", `${at(place)}${JSON.stringify(text)} is not an edge`, {
    remedy: "write `researcher -> coder`, `coder <-> reviewer`, `lead -> *` or `lead -> otherteam:lead`",
    operands: { edge: text, place },
  });
}

/** Each team decides for its own senders alone; an edge from elsewhere would look as if it worked, and would not. */
function foreignSender(text: string, team: string, sender: string, to: string, place: Place | null): TielineError {
  const colon = sender.lastIndexOf(":");
  const theirs = `${sender.slice(colon + 1)} -> ${team}:${to}`;
  return new TielineError(
    "CONFIG_INVALID",
    `${at(place)}the topology of team ${team} cannot let ${sender} write: ${JSON.stringify(text)}`,
    {
      remedy: `write \`${theirs}\` in the topology of team ${sender.slice(0, colon)}; replies need no edge`,
      operands: { edge: text, team, sender, place },
    },
  );
}

const at = (place: Place | null): string => (place ? `${formatPlace(place)}: ` : "");
