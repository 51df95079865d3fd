import type { Outcome } from "../../../model/delivery.ts";
import type { AgentId } from "../../../model/ids.ts";
import type { Message } from "../../../model/message.ts";
import type { Readiness, Transport } from "../port.ts";

/** Where objects live, as far as delivering needs to know. */
export interface ObjectHouse {
  /** Starts an object that is not running; it then says so itself. */
  ready(object: AgentId): Readiness;
  /** Resolves when the handler has taken the message, refused it, or was ended. Never rejects. */
  take(object: AgentId, message: Message): Promise<Outcome>;
  watch(object: AgentId, changed: () => void): Disposable;
}

/**
 * Hands messages to objects. That the handler returned is its own answer, so it counts as a reply does; how long it
 * may take is the object's setting and not the attempt's.
 */
export function objectTransport(house: ObjectHouse): Transport {
  const lost = new Map<string, string>();
  return {
    name: "object",
    traits: { bestProof: "reply", authority: "peer" },
    ready: async ({ agent }) => house.ready(agent.id),
    async deliver({ agent, message, mark }) {
      const outcome = await house.take(agent.id, message);
      if (outcome.kind === "unknown") lost.set(mark, outcome.detail);
      return outcome;
    },
    /** There is nowhere to look; why it was lost is all that can be told. */
    async inspect({ agent, mark }) {
      const detail = lost.get(mark) ?? `the switch stopped while ${agent.name} had the message`;
      lost.delete(mark);
      return { kind: "unknown", detail };
    },
    watch: (agent, _, changed) => house.watch(agent.id, changed),
  };
}

export const objectEndpoint = { transport: "object", locator: {} } as const;
