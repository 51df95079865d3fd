/** Programs that run already: found in tmux, and made agents. */
import { z } from "zod";
import { adopt, locatorOf, type AdoptParts } from "../../agents/adopt/adopt.ts";
import { discover, type DiscoverParts } from "../../agents/adopt/discover.ts";
import type { Directory } from "../../agents/directory/directory.ts";
import type { TmuxServers } from "../../agents/layout/servers.ts";
import { refreshStatus } from "../../agents/status/refreshStatus.ts";
import type { Courier } from "../../delivery/courier.ts";
import { endpointsInPane } from "../../delivery/transports/paneEndpoint.ts";
import type { ProbingTransport } from "../../delivery/transports/port.ts";
import { checkName } from "../../model/agent.ts";
import type { Connections } from "../../providers/connections.ts";
import type { NativeTeams } from "../../providers/nativeTeams.ts";
import type { Providers } from "../../providers/providers.ts";
import type { Callers } from "../callers.ts";
import { operation } from "../operation.ts";
import { AgentView } from "../schema.ts";
import { FoundView } from "../schemas/life.ts";
import { agentView, endpointViews, type ViewParts } from "../views.ts";
import { newAgentName, roleLabel } from "../schemas/fields.ts";

export interface AdoptOperationParts extends ViewParts, Omit<AdoptParts, "clock">, DiscoverParts {
  readonly callers: Callers;
  readonly directory: Directory;
  readonly providers: Providers;
  readonly native: NativeTeams;
  readonly connections: Pick<Connections, "registered" | "running">;
  readonly courier: Courier;
  readonly servers: TmuxServers;
  readonly tmuxSocket: string;
  readonly tmux: ProbingTransport;
}

export const adoptOperations = [
  operation({
    name: "adopt",
    summary: "Make a running program an agent.",
    access: "user",
    input: z.object({
      target: z.string().describe("the tmux pane that it runs in, or the exact name of its session"),
      name: newAgentName,
      provider: z.string().optional().describe("the agent program; detected by default"),
      workspace: z.string().optional().describe("its workspace directory"),
      role: roleLabel.optional(),
    }),
    output: AgentView,
    async run(parts: AdoptOperationParts, { target, name, provider, workspace, role }, { caller }) {
      const { callers, servers, courier, directory } = parts;
      if (role !== undefined) checkName(role, "role");
      const { team } = await callers.user(caller);
      const server = servers.at(caller.tmuxServer ?? parts.tmuxSocket);
      const agent = await adopt(server, { target, name, team, provider, workspace, role }, parts);
      await refreshStatus(agent, parts);
      courier.wake(agent.id);
      return agentView(directory.agent(agent.id)!, parts);
    },
  }),

  /** Agent programs that run on the caller's tmux server. */
  operation({
    name: "discover",
    summary: "Find agent programs on your tmux server, and how each can be reached.",
    access: "user",
    input: z.object({}),
    output: z.array(FoundView),
    async run(parts: AdoptOperationParts, _, { caller }) {
      const { callers, servers } = parts;
      const { team } = await callers.user(caller);
      const server = servers.at(caller.tmuxServer ?? parts.tmuxSocket);
      const found = await discover(server, team, parts);
      return found.map(({ pane, program, provider, foundBy, name, sessionId, agent }) => ({
        ...{ pane: pane.id, session: pane.sessionName, window: pane.windowName, cwd: pane.currentPath },
        ...{
          provider,
          program: program.command,
          pid: program.pid,
          name,
          sessionId,
          foundBy: [...foundBy],
          agent: agent && `${agent.team}:${agent.name}`,
        },
        endpoints: endpointViews(
          endpointsInPane(parts.providers.of(provider), locatorOf(server, pane, program, {})),
          parts.transports,
        ),
      }));
    },
  }),
] as const;
