import { lowestRank, type Transport } from "../port.ts";
import { endpointKind } from "../endpointKind.ts";

export const pullKind = endpointKind("pull", {});

/**
 * For agents that ask: programs with the SDK, and agents that read their mail by MCP or `tieline inbox`. Nothing is
 * ever written to them.
 */
export const pullTransport: Transport = {
  name: pullKind.transport,
  traits: { bestProof: "tool", authority: "peer", rank: lowestRank, fetched: true },
  ready: async ({ agent }) => ({
    kind: "held",
    hold: { reason: "busy", detail: `${agent.name} has not fetched its mail yet` },
  }),
  deliver: async () => ({ kind: "error", detail: "mail is fetched here, not written" }),
  /** The reader may have exited before or after it read; there is no proof. */
  inspect: async ({ agent }) => ({
    kind: "unknown",
    detail: `${agent.name} fetched it and did not confirm that it was read`,
  }),
  watch: () => ({ [Symbol.dispose]: () => undefined }),
};
