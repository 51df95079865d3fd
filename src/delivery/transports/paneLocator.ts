import type { Endpoint } from "../../model/agent.ts";
import type { Provider } from "../../providers/port.ts";
import type { TerminalTraits } from "../../providers/traits.ts";

/**
 * Everything that makes an agent in a pane this agent and no other. Pane ids restart with every tmux server, and
 * pids are used again, so each comes with what tells its bearers apart.
 */
export interface PaneLocator {
  readonly socket: string;
  readonly serverPid: number;
  readonly serverStartedAt: number;
  readonly pane: string;
  readonly panePid: number;
  readonly agentPid: number;
  readonly agentStartMark: string;
  /** When the agent was first known to be there; attempts from before went elsewhere. */
  readonly since?: number;
  /** It was started to resume a conversation. */
  readonly resumes?: boolean;
  /** What the profile says about its terminal. */
  readonly terminal: Partial<TerminalTraits>;
}

export function paneEndpoint(locator: PaneLocator): Endpoint {
  return { transport: "tmux", locator: { ...locator } };
}

/** Every endpoint of a program in a pane that is known without asking the program. */
export function endpointsInPane(
  { transportsInPane = [] }: Pick<Provider, "transportsInPane">,
  locator: PaneLocator,
): readonly Endpoint[] {
  const own = transportsInPane.map((transport) => ({ transport, locator: {} }));
  return [paneEndpoint(locator), ...own];
}

export function paneLocator(endpoint: Endpoint): PaneLocator {
  return endpoint.locator as unknown as PaneLocator;
}
