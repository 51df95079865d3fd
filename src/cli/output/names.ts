import { userName, switchName } from "../../model/agent.ts";
import type { Client } from "../../client/client.ts";
import type { DeliveryView, ReceiptView } from "../../api/schema.ts";

/** Shows an agent in a list. */
export type Name = (team: string | null, name: string) => string;

/** In a list of the caller's own team a name is enough; in any other list every agent is shown as `team:name`. */
function namesAmong(teams: Iterable<string | null>, own: string): Name {
  const isOwn = [...teams].every((team) => team === null || team === own);
  return (team, name) => (isOwn ? name : qualified(team, name));
}

/** Agents of this team by name, all others as `team:name`. */
export const namesFor =
  (own: string): Name =>
  (team, name) =>
    team === own ? name : qualified(team, name);

/** The user and Tieline itself are in every team and in none. */
export const qualified: Name = (team, name) =>
  team === null || team === "" || name === userName || name === switchName ? name : `${team}:${name}`;

/** What `--team` chose, or else whatever teams are in the list. */
export async function namesIn(
  chosen: string | undefined,
  teams: Iterable<string | null>,
  daemon: Client,
): Promise<Name> {
  if (chosen !== undefined) return namesFor(chosen);
  const listed = new Set([...teams].filter((team) => team !== null));
  return listed.size === 0 ? qualified : namesAmong(listed, (await daemon.call("whoami", {})).team);
}

export const teamsOf = (receipts: readonly ReceiptView[]): (string | null)[] =>
  receipts.flatMap((receipt) => [
    receipt.from === userName ? null : receipt.team,
    ...receipt.deliveries.map((one) => teamOf(receipt, one)),
  ]);

/** The team of a recipient. For an agent that was removed, it follows from how the agent was addressed. */
export function teamOf(
  { to, team: sender }: Pick<ReceiptView, "to" | "team">,
  { agent, team }: Pick<DeliveryView, "agent" | "team">,
): string | null {
  if (team !== null || agent === userName || /^[@*%]/.test(to)) return team;
  return to.includes(":") ? to.slice(0, to.indexOf(":")) : sender;
}

/** To whom a message went. A group or a pane is shown as it was written. */
export function addressee(receipt: ReceiptView, name: Name): string {
  const { to, team, deliveries } = receipt;
  const [only] = deliveries.length === 1 ? deliveries : [];
  if (only && (to === only.agent || to.endsWith(`:${only.agent}`))) return name(teamOf(receipt, only), only.agent);
  return /^[@*%]|:/.test(to) ? to : name(team, to);
}
