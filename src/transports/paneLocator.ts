import type { Endpoint } from "../model/agent.ts";
import type { TerminalTraits } from "../providers/traits.ts";

/**
 * Everything that makes an agent in a pane this agent and no other. Pane ids start anew with every tmux server, and
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
  /** What the profile says about its terminal. */
  readonly terminal: Partial<TerminalTraits>;
}

export function paneEndpoint(locator: PaneLocator): Endpoint {
  return { transport: "tmux", locator: { ...locator } };
}

export function paneLocator(endpoint: Endpoint): PaneLocator {
  return endpoint.locator as unknown as PaneLocator;
}
