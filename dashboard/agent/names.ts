/** Agents by their address: `team:name`. A bare name means the only agent that has it. */
import { agents, type AgentCell } from "../state.ts";

export const addressOf = ({ team, name }: { readonly team: string; readonly name: string }): string =>
  `${team}:${name}`;

export function agentAt(address: string): AgentCell | null {
  const all = agents.value;
  const exact = all.find(({ view }) => addressOf(view.value) === address);
  if (exact !== undefined) return exact;
  const named = all.filter(({ view }) => view.value.name === address);
  return named.length === 1 ? named[0]! : null;
}
