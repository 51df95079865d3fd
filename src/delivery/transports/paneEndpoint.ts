import { z } from "zod";
import type { Endpoint } from "../../model/agent.ts";
import type { Provider } from "../../providers/port.ts";
import type { TerminalTraits } from "../../providers/traits.ts";
import { endpointKind, type LocatorOf } from "./endpointKind.ts";

/**
 * Everything that identifies an agent in a pane. Pane ids start again with every tmux server, and pids are reused, so
 * each comes with what tells its bearers apart.
 */
export const tmuxEndpoint = endpointKind("tmux", {
  socket: z.string(),
  serverPid: z.number(),
  serverStartedAt: z.number(),
  pane: z.string(),
  panePid: z.number(),
  agentPid: z.number(),
  agentStartMark: z.string(),
  /** When the agent was first known to be there; earlier attempts went elsewhere. */
  since: z.number().exactOptional(),
  /** It was started to resume a conversation. */
  resumes: z.boolean().exactOptional(),
  /** What the profile says about its terminal. */
  terminal: z.custom<Partial<TerminalTraits>>((value) => typeof value === "object" && value !== null),
});
export type PaneLocator = LocatorOf<typeof tmuxEndpoint>;

/** Every endpoint of a program in a pane that is known without asking the program. */
export function endpointsInPane(
  { transportsInPane = [] }: Pick<Provider, "transportsInPane">,
  locator: PaneLocator,
): readonly Endpoint[] {
  const own = transportsInPane.map((transport) => ({ transport, locator: {} }));
  return [tmuxEndpoint.make(locator), ...own];
}
