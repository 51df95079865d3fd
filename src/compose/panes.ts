/** tmux panes: written to, read, shown. */
import { Borders } from "../agents/layout/borders.ts";
import { sessionOf } from "../agents/layout/place.ts";
import { TmuxServers } from "../agents/layout/servers.ts";
import { Viewers } from "../agents/layout/viewers.ts";
import { recordObservations } from "../agents/status/recordObservations.ts";
import { preferReportedState } from "../agents/status/reportedState.ts";
import { StatusMonitor } from "../agents/status/statusMonitor.ts";
import type { TranscriptWatcher } from "../delivery/transcriptWatcher.ts";
import { tmuxTransport } from "../delivery/transports/tmux/transport.ts";
import { PaneWatch } from "../delivery/transports/tmux/watch.ts";
import { systemProcesses, type Processes } from "../os/processes.ts";
import type { Connections } from "../providers/connections.ts";
import { UserScreens } from "../providers/userScreens.ts";
import type { Agents } from "./agents.ts";
import type { Foundation } from "./options.ts";
import { providers } from "./providers.ts";
import type { Storage } from "./storage.ts";

export interface Panes {
  readonly processes: Processes;
  readonly servers: TmuxServers;
  readonly watches: PaneWatch;
  readonly tmux: ReturnType<typeof tmuxTransport>;
  readonly statusMonitor: StatusMonitor;
  readonly borders: Borders;
  readonly viewers: Viewers;
}

export interface PanesParts
  extends Foundation, Pick<Storage, "mailbox" | "events">, Pick<Agents, "directory" | "agentOf"> {
  readonly reportedState: Connections["reportedState"];
  readonly proofOf: TranscriptWatcher["proofOf"];
}

export function panesOf(parts: PanesParts): Panes {
  const { options, config, clock, timers, random, report, command, mailbox, directory, agentOf } = parts;
  const { reportedState, proofOf } = parts;
  const { onEvent } = parts.events;
  const processes = systemProcesses();
  const servers = new TmuxServers(
    { env: options.env, timeoutMs: config.terminal.execTimeout, timers, random },
    options.debug ?? null,
    (socket) => viewers.moved(socket),
  );
  const server = servers.at.bind(servers);
  const watches = new PaneWatch(report, { clock, timers });
  const tmux = tmuxTransport({
    ...{ providers, processes, watches, clock, timers, report, command, proofOf, server, agent: agentOf },
    enterRepeats: config.delivery.retries,
    defaults: { copyMode: config.delivery.copyMode, quietMs: config.delivery.quietMs },
    screens: new UserScreens(options.screensDirectory, providers),
    timeoutMs: config.delivery.timeoutMs,
    readyTimeoutMs: config.delivery.readyTimeoutMs,
    pollIntervalMs: config.delivery.pollIntervalMs,
    observed: preferReportedState(
      recordObservations(directory, { startingMs: config.spawn.readyTimeoutMs, clock }),
      reportedState,
    ),
  });
  const statusMonitor = new StatusMonitor({ reader: tmux, directory, onEvent, report, timers });
  const borders = new Borders({
    ...{ server, agent: agentOf, onEvent, report, timers },
    pending: (id) => mailbox.pending(id),
  });
  const viewers: Viewers = new Viewers({
    ...{ server, report },
    agents: () => directory.agents(),
    sessionOf: (agent) => sessionOf(agent, config),
    attend: (wanted) => statusMonitor.follow(wanted),
  });
  return { processes, servers, watches, tmux, statusMonitor, borders, viewers };
}
