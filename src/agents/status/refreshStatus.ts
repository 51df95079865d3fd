import { endpointBy, type Agent } from "../../model/agent.ts";
import type { ProbingTransport } from "../../delivery/transports/port.ts";

/** Brings what is known of an agent up to date, if it is in a pane. */
export async function refreshStatus(
  agent: Agent,
  { tmux }: { readonly tmux: Pick<ProbingTransport, "probe"> },
): Promise<void> {
  const endpoint = endpointBy("tmux", agent);
  if (endpoint) await tmux.probe(agent, endpoint);
}
