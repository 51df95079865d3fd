import type { AgentId } from "../model/ids.ts";
import type { Change } from "../mailbox/port.ts";
import type { AcceptedFact, DeliveryFact, Fact } from "../model/event.ts";
import { type Message } from "../model/message.ts";
import { summarise } from "../model/summary.ts";

/** An agent's team; null for the user, and for one that was removed. */
type TeamOf = (agent: AgentId) => string | null;

interface FactParts {
  readonly teamOf: TeamOf;
  /** A description of a message that is not meant to be read as it is; null: it is. */
  readonly inWords: (message: Message) => string | null;
}

/**
 * What a commit of the mailbox says to those who watch: each new message before its deliveries, then every transition.
 */
export function factsOf(changes: readonly Change[], parts: FactParts): Fact[] {
  const told = new Set<string>();
  return changes.flatMap((change) => {
    const { id } = change.message;
    if (change.transition.verb !== "accept" || told.has(id)) return [deliveryFact(change, parts.teamOf)];
    told.add(id);
    return [acceptedFact(change, changes, parts), deliveryFact(change, parts.teamOf)];
  });
}

function acceptedFact({ message }: Change, changes: readonly Change[], { teamOf, inWords }: FactParts): AcceptedFact {
  const { id, tag, from, to, team, kind, when, thread, inReplyTo, expiresAt, acceptedAt } = message;
  const own = changes.filter((one) => one.message.id === id && one.transition.verb === "accept");
  return {
    ...{ type: "message.accepted", id, tag, from: from.name, to, team },
    recipients: own.map(({ delivery }) => delivery.agentName),
    recipientTeams: own.map(({ delivery }) => teamOf(delivery.agent)),
    message: {
      ...{ kind, when, thread, inReplyTo, expiresAt, acceptedAt, knownBy: from.knownBy },
      // A sender's own summary may be long.
      summary: summarise(inWords(message) ?? message.summary),
      recipientIds: own.map(({ delivery }) => delivery.agent),
    },
  };
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
