import { personName, switchName } from "../model/agent.ts";
import type { ReceiptView } from "../client/schema.ts";

/** Shows an agent in a list. */
export type Name = (team: string | null, name: string) => string;

/** In a list of one team a name is enough; where teams mix, every agent is shown as `team:name`. */
export function namesAmong(teams: Iterable<string | null>): Name {
  const several = new Set([...teams].filter((team) => team !== null)).size > 1;
  return (team, name) => (several ? qualified(team, name) : name);
}

/** Agents of this team by name, all others as `team:name`. */
export const namesFor =
  (own: string): Name =>
  (team, name) =>
    team === own ? name : qualified(team, name);

/** The user and Tieline itself are in every team and in none. */
export const qualified: Name = (team, name) =>
  team === null || team === "" || name === personName || name === switchName ? name : `${team}:${name}`;

/** What `--team` chose, or else whatever teams are in the list. */
export const namesIn = (own: string | undefined, teams: Iterable<string | null>): Name =>
  own === undefined ? namesAmong(teams) : namesFor(own);

export const teamsOf = (receipts: readonly ReceiptView[]): (string | null)[] =>
  receipts.flatMap(({ from, team, deliveries }) => [from === personName ? null : team, ...deliveries.map((one) => one.team)]);

/** To whom a message went. A group, a pane or an agent that was removed is shown as it was written. */
export function addressee({ to, team, deliveries }: ReceiptView, name: Name): string {
  const [only] = deliveries.length === 1 ? deliveries : [];
  if (only && only.team !== null && (to === only.agent || to.endsWith(`:${only.agent}`))) return name(only.team, only.agent);
  return /^[@*%]|:/.test(to) ? to : name(team, to);
}
