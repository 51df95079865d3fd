/**
 * Transport selection: which endpoints of an agent a message may use, best first. Each transport declares its rank and
 * authority in its traits, so selection is a filter and a sort.
 */
import { userId, type Agent, type Endpoint } from "../model/agent.ts";
import { isProtocol, type Message } from "../model/message.ts";
import type { Transport, TransportTraits } from "./transports/port.ts";

type TransportOf = (name: string) => Pick<Transport, "traits">;

/** Whether the programs handle the message between themselves. An agent without such an endpoint gets it as text. */
export const goesByProtocol = (agent: Agent, { kind }: Pick<Message, "kind">, transportOf: TransportOf): boolean =>
  isProtocol(kind) && agent.endpoints.some(({ transport }) => transportOf(transport).traits.protocol);

/** Acks and bounces start no turn. Whether they reach the agent anyway: it fetches them, or they disturb nothing. */
export const getsNotices = ({ endpoints }: Agent, transportOf: TransportOf): boolean =>
  endpoints.some(({ transport }) => {
    const { fetched, quiet } = transportOf(transport).traits;
    return fetched || quiet;
  });

export interface Candidate {
  readonly endpoint: Endpoint;
  /** An agent's text would count as the user's words there: only when no other endpoint is left. */
  readonly lastResort: boolean;
}

/** What transport selection depends on. */
type Sent = Pick<Message, "kind" | "when"> & { readonly from: Pick<Message["from"], "id"> };

/** The transport of a message from the user at the end of a turn. */
export function usualTransport(agent: Agent, transportOf: TransportOf): string | null {
  const sent: Sent = { kind: "text", when: "turn", from: { id: userId } };
  return selectEndpoints(agent, sent, transportOf)[0]?.endpoint.transport ?? null;
}

export function selectEndpoints(agent: Agent, message: Sent, transportOf: TransportOf): readonly Candidate[] {
  const all = agent.endpoints.map((endpoint) => ({ endpoint, traits: transportOf(endpoint.transport).traits }));
  const only = (wanted: (traits: TransportTraits) => boolean | undefined): readonly Candidate[] =>
    all.filter(({ traits }) => wanted(traits)).map(({ endpoint }) => ({ endpoint, lastResort: false }));
  const exclusive = only((traits) => traits.exclusive);
  if (exclusive.length > 0) return exclusive;
  if (goesByProtocol(agent, message, transportOf)) return only((traits) => traits.protocol);
  const combined = message.when === "turn" ? only((traits) => traits.combined) : [];
  if (combined.length > 0) return combined;
  const fromUser = message.from.id === userId;
  const rank = fromUser ? (message.when === "turn" ? "atTurnEnd" : "inTurn") : "fromAgent";
  const headless = all.some(({ traits }) => traits.input === "stream");
  return all
    .filter(({ traits }) => !traits.combined && !(headless && traits.input === "terminal"))
    .toSorted((a, b) => a.traits.rank[rank] - b.traits.rank[rank])
    .map(({ endpoint, traits }) => ({ endpoint, lastResort: !fromUser && traits.authority === "user" }));
}
