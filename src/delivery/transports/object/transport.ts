import type { Outcome } from "../../../model/delivery.ts";
import type { AgentId } from "../../../model/ids.ts";
import type { Message } from "../../../model/message.ts";
import { lowestRank, type Readiness, type Transport } from "../port.ts";
import { endpointKind } from "../endpointKind.ts";

export const objectKind = endpointKind("object", {});
export const objectEndpoint = objectKind.make({});

/** The objects, as far as delivering needs to know them. */
export interface ObjectHouse {
  ready(object: AgentId): Readiness;
  /** Resolves when the handler took or refused the message, or exited; `held`: it was started and is not ready. */
  take(object: AgentId, message: Message): Promise<Outcome>;
  watch(object: AgentId, changed: () => void): Disposable;
}

/**
 * Gives messages to objects. A handler that returns counts as a reply; how long it may take is the object's setting,
 * not the attempt's.
 */
export function objectTransport(house: ObjectHouse): Transport {
  const lost = new Map<string, string>();
  return {
    name: objectKind.transport,
    traits: { bestProof: "reply", authority: "peer", rank: lowestRank },
    ready: async ({ agent }) => house.ready(agent.id),
    async deliver({ agent, message, mark }) {
      const outcome = await house.take(agent.id, message);
      if (outcome.kind === "unknown") lost.set(mark, outcome.detail);
      return outcome;
    },
    /** Nothing can be inspected; why it was lost is all that is known. */
    async inspect({ agent, mark }) {
      const detail = lost.get(mark) ?? `the switch stopped while ${agent.name} had the message`;
      lost.delete(mark);
      return { kind: "unknown", detail };
    },
    watch: (agent, _, changed) => house.watch(agent.id, changed),
  };
}
