/**
 * The native inbox and the pane, one after the other. The reader sees by the tag that it is the same message. The pane
 * comes first, because only there can the moment be wrong: what was not typed is not in the inbox either, and so a
 * delivery that waits, or is inspected after a crash, is whole or not there.
 */
import type { Agent, Endpoint } from "../../../model/agent.ts";
import type { Outcome } from "../../../model/delivery.ts";
import { bothKind } from "../bothEndpoint.ts";
import type { Attempt, Transport } from "../port.ts";

export interface BothParts {
  readonly pane: Transport;
  readonly inbox: Transport;
}

export function paneAndInboxTransport({ pane, inbox }: BothParts): Transport {
  const by = ({ name }: Transport, attempt: Attempt): Attempt => ({
    ...attempt,
    endpoint: endpointOf(attempt.agent, name),
  });

  return {
    name: bothKind.transport,
    traits: {
      bestProof: pane.traits.bestProof,
      authority: pane.traits.authority,
      rank: pane.traits.rank,
      combined: true,
    },

    async ready(attempt) {
      const atPane = await pane.ready(by(pane, attempt));
      return atPane.kind === "gone" ? inbox.ready(by(inbox, attempt)) : atPane;
    },

    async deliver(attempt, signal) {
      const typed = await pane.deliver(by(pane, attempt), signal);
      if (typed.kind === "held" || typed.kind === "error") return typed;
      return together(typed, await inbox.deliver(by(inbox, attempt), signal));
    },

    async inspect(attempt) {
      const typed = await pane.inspect(by(pane, attempt));
      if (typed.kind === "delivered") return typed;
      const laid = await inbox.inspect(by(inbox, attempt));
      return laid.kind === "delivered" ? laid : typed;
    },

    watch(agent, _endpoint, changed) {
      const stack = new DisposableStack();
      for (const transport of [pane, inbox])
        stack.use(transport.watch(agent, endpointOf(agent, transport.name), changed));
      return stack;
    },
  };
}

/** One of the two is enough for the message to have arrived; the receipt says what became of each. */
function together(typed: Outcome, laid: Outcome): Outcome {
  const detail = `pane: ${wordsFor(typed)}; inbox: ${wordsFor(laid)}`;
  if (typed.kind === "delivered") return { ...typed, detail };
  if (laid.kind === "delivered") return { ...laid, detail, authority: "peer" };
  return typed.kind === "unknown" ? { ...typed, detail } : laid;
}

const wordsFor = (outcome: Outcome): string =>
  outcome.kind === "held"
    ? outcome.hold.detail
    : (outcome.detail ?? (outcome.kind === "delivered" ? outcome.proof : outcome.kind));

/** If the endpoint has disappeared, its transport reports `gone`. */
const endpointOf = ({ endpoints }: Agent, transport: string): Endpoint =>
  endpoints.find((one) => one.transport === transport) ?? { transport, locator: {} };
