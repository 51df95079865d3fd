import type { AgentState } from "./agent.ts";
import { deliveryStates, type DeliveryState, type Transition } from "./delivery.ts";
import type { AgentId, MessageId, Tag } from "./ids.ts";
import type { Message, Sender } from "./message.ts";

/** Whom a fact is about. */
interface About {
  readonly agent: AgentId;
  readonly name: string;
  readonly team: string;
}

/** Who wrote to whom, and where that is filed: under the sender's team, or that which the user wrote to. */
interface Along {
  readonly from: string;
  readonly to: string;
  readonly team: string;
}

interface Recipients {
  readonly recipients: readonly string[];
  /** The team of each recipient, in the same order; null for the user. Events of earlier builds have none. */
  readonly recipientTeams?: readonly (string | null)[];
}

/** A new message, with what a list of messages shows. */
export interface AcceptedFact extends Along, Recipients {
  readonly type: "message.accepted";
  readonly id: MessageId;
  readonly tag: Tag;
  /** Events of earlier builds have none. */
  readonly message?: Pick<
    Message,
    "kind" | "when" | "summary" | "thread" | "inReplyTo" | "expiresAt" | "acceptedAt"
  > & {
    readonly knownBy: Sender["knownBy"];
    /** The id of each recipient, in the order of `recipients`. */
    readonly recipientIds: readonly AgentId[];
  };
}

/** Past-tense facts. Losing one loses no mail: the mailbox is the truth, events are for those who watch. */
export type Fact =
  | AcceptedFact
  /** By the program's own means, past the mailbox. */
  | (About & { readonly type: "message.sent"; readonly to: string; readonly content: string })
  | (Along & { readonly type: "route.routed"; readonly tag: Tag; readonly allowed: readonly string[] } & Recipients)
  | (Along & { readonly type: "route.denied"; readonly allowed: readonly string[] })
  | DeliveryFact
  | (About & { readonly type: "agent.registered" | "agent.removed" })
  | (About & { readonly type: "agent.changed"; readonly state: AgentState; readonly reason: string | null })
  | (About & { readonly type: "tool.call"; readonly tool: string; readonly input: unknown })
  | (About & { readonly type: "user.prompt"; readonly prompt: string })
  | (About & { readonly type: "agent.response"; readonly summary: string });

/** One step of a delivery. `from` and `to` are its states, `sender` is who wrote. */
export interface DeliveryFact extends Transition {
  readonly type: `delivery.${DeliveryState}`;
  readonly tag: Tag;
  readonly messageId: MessageId;
  readonly agent: AgentId;
  readonly agentName: string;
  /** The recipient's team; null for the user, and for an agent that was removed. Events of earlier builds have none. */
  readonly agentTeam?: string | null;
  /** Where the message is filed: the sender's team; of mail from the user, the recipients'. */
  readonly team: string;
  readonly sender: string;
  readonly acceptedAt: number;
}

/** A fact with its number. A later event has a higher number, also after a restart; numbers may be left out. */
export type Event = Fact & { readonly seq: number; readonly at: number };

/** Where facts go. Emitting never throws and never waits. */
export type Emit = (fact: Fact) => void;

type Named = readonly [team: string | null, name: string];

/** Every agent that a fact names, with its team. */
function namedIn(fact: Fact): readonly Named[] {
  const { team } = fact;
  switch (fact.type) {
    case "message.accepted":
    case "route.routed":
      return [
        [team, fact.from],
        ...fact.recipients.map((name, at): Named => [fact.recipientTeams?.[at] ?? null, name]),
      ];
    case "route.denied":
      return [
        [team, fact.from],
        [team, fact.to],
      ];
    case "message.sent":
      return [
        [team, fact.name],
        [team, fact.to],
      ];
    case "agent.registered":
    case "agent.removed":
    case "agent.changed":
    case "tool.call":
    case "user.prompt":
    case "agent.response":
      return [[team, fact.name]];
    default:
      return [
        [fact.agentTeam ?? null, fact.agentName],
        [team, fact.sender],
      ];
  }
}

const otherTypes: Record<Exclude<Fact["type"], DeliveryFact["type"]>, true> = {
  "message.accepted": true,
  "message.sent": true,
  "route.routed": true,
  "route.denied": true,
  "agent.registered": true,
  "agent.removed": true,
  "agent.changed": true,
  "tool.call": true,
  "user.prompt": true,
  "agent.response": true,
};

/** Every type of an event. */
export const eventTypes: readonly string[] = [
  ...Object.keys(otherTypes),
  ...deliveryStates.map((state) => `delivery.${state}`),
];

/** A filter for events. A field left out matches everything. */
export interface EventFilter {
  /** A name, or `team:name`. */
  readonly agent?: string;
  /** Of the sender, or of an agent that the event names. */
  readonly team?: string;
  /** Whole types, or their beginning: `delivery` is every state of a delivery. */
  readonly types?: readonly string[];
}

export function isWanted(event: Event, { agent, team, types }: EventFilter): boolean {
  if (team !== undefined && event.team !== team && !namedIn(event).some(([one]) => one === team)) return false;
  if (agent !== undefined && !namedIn(event).some((one) => one[1] === agent || one.join(":") === agent)) return false;
  return types === undefined || types.some((type) => isOfType(event.type, type));
}

/** A whole type, or its beginning. */
export const isOfType = (type: string, wanted: string): boolean => type === wanted || type.startsWith(`${wanted}.`);
