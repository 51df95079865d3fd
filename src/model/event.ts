import type { AgentState, Presence } from "./agent.ts";
import type { AgentId, DeliveryId, MessageId, Tag } from "./ids.ts";
import type { Transition } from "./delivery.ts";

/** Past-tense facts. Losing one loses no mail: the mailbox is the truth, events are for those who watch. */
export type Fact =
  | { readonly type: "message.accepted"; readonly id: MessageId; readonly tag: Tag; readonly from: string; readonly to: string; readonly team: string; readonly recipients: readonly string[] }
  | { readonly type: "route.denied"; readonly from: string; readonly to: string; readonly team: string; readonly allowed: readonly string[] }
  | ({ readonly type: `delivery.${string}`; readonly tag: Tag; readonly agentName: string; readonly messageId: MessageId } & Omit<Transition, "delivery"> & { readonly delivery: DeliveryId })
  | { readonly type: "agent.registered" | "agent.removed"; readonly agent: AgentId; readonly name: string; readonly team: string }
  | { readonly type: "agent.changed"; readonly agent: AgentId; readonly name: string; readonly team: string; readonly state: AgentState; readonly reason: string | null; readonly presence: Presence };

export type Event = Fact & { readonly at: number };

/** Where facts go. Emitting never throws and never waits. */
export type Emit = (fact: Fact) => void;
