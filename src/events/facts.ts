import type { Change } from "../mailbox/port.ts";
import type { DeliveryFact, Fact } from "../model/event.ts";

/** What a commit of the mailbox says to those who watch: each new message before its deliveries, then every transition. */
export function factsOf(changes: readonly Change[]): Fact[] {
  const told = new Set<string>();
  return changes.flatMap((change) => {
    const { id } = change.message;
    if (change.transition.verb !== "accept" || told.has(id)) return [deliveryFact(change)];
    told.add(id);
    return [acceptedFact(change, changes), deliveryFact(change)];
  });
}

function acceptedFact({ message: { id, tag, from, to, team } }: Change, changes: readonly Change[]): Fact {
  const own = changes.filter(({ message, transition }) => message.id === id && transition.verb === "accept");
  return { type: "message.accepted", id, tag, from: from.name, to, team, recipients: own.map(({ delivery }) => delivery.agentName) };
}

function deliveryFact({ transition, delivery: { agent, agentName }, message: { id, tag, from, team, acceptedAt } }: Change): DeliveryFact {
  return { type: `delivery.${transition.to}`, tag, messageId: id, agent, agentName, team, sender: from.name, acceptedAt, ...transition };
}
