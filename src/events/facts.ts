import type { AgentId } from "../model/ids.ts";
import type { Change } from "../mailbox/port.ts";
import type { DeliveryFact, Fact } from "../model/event.ts";

/** An agent's team; null for the user, and for one that was removed. */
type TeamOf = (agent: AgentId) => string | null;

/**
 * What a commit of the mailbox says to those who watch: each new message before its deliveries, then every transition.
 */
export function factsOf(changes: readonly Change[], teamOf: TeamOf): Fact[] {
  const told = new Set<string>();
  return changes.flatMap((change) => {
    const { id } = change.message;
    if (change.transition.verb !== "accept" || told.has(id)) return [deliveryFact(change, teamOf)];
    told.add(id);
    return [acceptedFact(change, changes, teamOf), deliveryFact(change, teamOf)];
  });
}

function acceptedFact(
  { message: { id, tag, from, to, team } }: Change,
  changes: readonly Change[],
  teamOf: TeamOf,
): Fact {
  const own = changes.filter(({ message, transition }) => message.id === id && transition.verb === "accept");
  const recipients = own.map(({ delivery }) => delivery.agentName);
  const recipientTeams = own.map(({ delivery }) => teamOf(delivery.agent));
  return { type: "message.accepted", id, tag, from: from.name, to, team, recipients, recipientTeams };
}

function deliveryFact(
  { transition, delivery: { agent, agentName }, message: { id, tag, from, team, acceptedAt } }: Change,
  teamOf: TeamOf,
): DeliveryFact {
  return {
    type: `delivery.${transition.to}`,
    tag,
    messageId: id,
    agent,
    agentName,
    agentTeam: teamOf(agent),
    team,
    sender: from.name,
    acceptedAt,
    ...transition,
  };
}
