/** Why an agent's program retries its model: by its own report, else as its screen shows. */
import { endpointBy, type Agent } from "../model/agent.ts";
import type { Connections } from "../providers/connections.ts";
import type { StatusReader } from "../agents/status/port.ts";
import { providers } from "./providers.ts";

export const retryReasonOf =
  (connections: Connections, statusReader: Pick<StatusReader, "explain">) =>
  async (agent: Agent): Promise<string | null | undefined> => {
    const own = connections.of(agent.provider).retryReason?.(agent);
    if (own !== undefined) return own;
    const pane = endpointBy("tmux", agent);
    const tells = pane !== undefined && providers.screen(agent.provider).retrying !== undefined;
    return tells ? (await statusReader.explain(agent, pane)).retrying : undefined;
  };
