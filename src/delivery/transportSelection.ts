/**
 * Which way in, for which message: the table of docs/providers.md. First safety, then `when`, then proof, then
 * authority.
 */
import { userId, type Agent, type Endpoint } from "../model/agent.ts";
import { isProtocol, type Message, type When } from "../model/message.ts";
import { bothEndpoint, isReachedTwice } from "./transports/bothEndpoint.ts";
import { filesEndpoint, readsFiles } from "./transports/filesEndpoint.ts";
import type { Transport } from "./transports/port.ts";

/** Best first; what is not listed comes after these, in the agent's own order. */
const fromUser: Readonly<Record<When, readonly string[]>> = {
  turn: [
    "stream-json",
    "codex-server",
    "opencode-server",
    "pi-extension",
    "codex-queue",
    "tmux",
    "claude-socket",
    "hook",
  ],
  tool: [
    "stream-json",
    "codex-server",
    "opencode-server",
    "pi-extension",
    "claude-socket",
    "hook",
    "codex-queue",
    "tmux",
  ],
  interrupt: [
    "stream-json",
    "codex-server",
    "opencode-server",
    "pi-extension",
    "claude-socket",
    "hook",
    "codex-queue",
    "tmux",
  ],
};
const fromAgent: readonly string[] = [
  "codex-server",
  "pi-extension",
  "claude-socket",
  "hook",
  "claude-inbox",
  "stream-json",
  "opencode-server",
  "codex-queue",
  "tmux",
];

/** Where programs of a Claude Code team talk to each other; a model would take the same for text. */
const protocolTransport = "claude-inbox";

/** Whether programs handle it between themselves. An agent that has no such way in is told it in text. */
export const goesByProtocol = (agent: Agent, { kind }: Pick<Message, "kind">): boolean =>
  isProtocol(kind) && agent.endpoints.some(({ transport }) => transport === protocolTransport);

/**
 * Acks and bounces start no turn. Whether they reach the agent all the same: it fetches them, or they disturb nothing.
 */
export const getsNotices = ({ endpoints }: Agent, transportOf: (name: string) => Transport): boolean =>
  endpoints.some(
    ({ transport }) => transport === "hook" || transport === "pull" || transportOf(transport).traits.quiet,
  );

export interface Candidate {
  readonly endpoint: Endpoint;
  /** Text counts as the user's own word there, although an agent wrote it: only when no other way is left. */
  readonly lastResort: boolean;
}

/** What the choice of a way depends on. */
type Sent = Pick<Message, "kind" | "when"> & { readonly from: Pick<Message["from"], "id"> };

/** How a message of the user goes at the end of a turn. */
export function usualTransport(agent: Agent, transportOf: (name: string) => Transport): string | null {
  return (
    selectEndpoints(agent, { kind: "text", when: "turn", from: { id: userId } }, transportOf)[0]?.endpoint.transport ??
    null
  );
}

export function selectEndpoints(
  agent: Agent,
  message: Sent,
  transportOf: (name: string) => Transport,
): readonly Candidate[] {
  // Its terminal is for people to look at; nobody reads there what is typed.
  if (readsFiles(agent)) return [{ endpoint: filesEndpoint, lastResort: false }];
  if (goesByProtocol(agent, message))
    return agent.endpoints
      .filter(({ transport }) => transport === protocolTransport)
      .map((endpoint) => ({ endpoint, lastResort: false }));
  if (isReachedTwice(agent) && message.when === "turn") return [{ endpoint: bothEndpoint, lastResort: false }];
  const user = message.from.id === userId;
  const order = user ? fromUser[message.when] : fromAgent;
  const rank = ({ transport }: Endpoint): number =>
    order.includes(transport) ? order.indexOf(transport) : order.length;
  // A program without a screen reads its input stream, not its terminal.
  const headless = agent.endpoints.some(({ transport }) => transport === "stream-json" || transport === "stdin");
  return agent.endpoints
    .filter(({ transport }) => transport !== bothEndpoint.transport && (!headless || transport !== "tmux"))
    .toSorted((a, b) => rank(a) - rank(b))
    .map((endpoint) => ({
      endpoint,
      lastResort: !user && transportOf(endpoint.transport).traits.authority === "user",
    }));
}
