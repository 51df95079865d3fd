import { namePattern } from "./agent.ts";
import { TielineError } from "./errors.ts";

/**
 * What a sender writes after "to". One grammar for every command:
 *
 *     engineer            a name, role or agent id in the sender's team
 *     feat-auth:engineer  the same in another team
 *     %14                 the agent in a tmux pane
 *     @all                all agents the sender has an edge to
 *     @web, @reviewers    a team, or an alias from tieline.yaml
 *     *                   every live agent on this host
 *     user                the user
 *     metrics tick gateway   system objects
 */
export type Address =
  | { readonly kind: "name"; readonly team: string | null; readonly name: string }
  | { readonly kind: "pane"; readonly pane: string }
  | { readonly kind: "all" }
  | { readonly kind: "group"; readonly name: string }
  | { readonly kind: "everyone" };

/** Agent ids are UUIDs; they may begin with a digit, which names may not. */
const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const teamPattern = /^[A-Za-z0-9_][A-Za-z0-9_./-]*$/;

export function parseAddress(text: string): Address {
  if (text === "*") return { kind: "everyone" };
  if (text === "@all") return { kind: "all" };
  if (/^%\d+$/.test(text)) return { kind: "pane", pane: text };
  if (text.startsWith("@") && teamPattern.test(text.slice(1))) return { kind: "group", name: text.slice(1) };
  const colon = text.lastIndexOf(":");
  const team = colon < 0 ? null : text.slice(0, colon);
  const name = text.slice(colon + 1);
  if ((team === null || teamPattern.test(team)) && (namePattern.test(name) || idPattern.test(name))) {
    return { kind: "name", team, name };
  }
  throw new TielineError("ADDRESS_UNKNOWN", `${JSON.stringify(text)} is not an address`, {
    remedy: "write a name (engineer), team:name, %pane, @all, @team, @alias, * or user",
    operands: { address: text },
  });
}

export function formatAddress(address: Address): string {
  switch (address.kind) {
    case "name":
      return address.team === null ? address.name : `${address.team}:${address.name}`;
    case "pane":
      return address.pane;
    case "all":
      return "@all";
    case "group":
      return `@${address.name}`;
    case "everyone":
      return "*";
  }
}

/** An address that means several agents is a broadcast: it reaches live agents and starts none. */
export function isBroadcast(address: Address): boolean {
  return address.kind === "all" || address.kind === "group" || address.kind === "everyone";
}

const maxTeamLength = 64;
/** `@all` and `@team` mean something else. */
const reservedTeams: readonly string[] = ["all", "team"];
export const isTeamName = (text: string): boolean =>
  teamPattern.test(text) && text.length <= maxTeamLength && !reservedTeams.includes(text);

/** A team name made of any text, with `-` for what a name cannot have; null: nothing is left. */
export function cleanTeamName(text: string): string | null {
  const plain = text.normalize("NFKD").replace(/\p{M}+/gu, "");
  const clean = plain
    .replace(/[^A-Za-z0-9_.]+/g, "-")
    .replace(/^[-.]+/, "")
    .slice(0, maxTeamLength)
    .replace(/[-.]+$/, "");
  return isTeamName(clean) ? clean : null;
}

export function checkTeamName(team: string): string {
  if (isTeamName(team)) return team;
  throw new TielineError("NAME_INVALID", `${JSON.stringify(team)} is not a valid team name`, {
    remedy:
      `use letters, digits, _ - . or /, at most ${maxTeamLength} characters, not beginning with a mark; ` +
      `${reservedTeams.join(" and ")} are reserved`,
    operands: { team },
  });
}
