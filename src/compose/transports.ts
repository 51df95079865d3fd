/** Every transport, by name. */
import type { HomeConfig } from "../config/home.ts";
import type { Agent } from "../model/agent.ts";
import type { Timers } from "../os/timers.ts";
import { heldByReportedState } from "../agents/status/reportedState.ts";
import { paneAndInboxTransport } from "../delivery/transports/both/transport.ts";
import { hooksReach, hookTransport } from "../delivery/transports/hook/transport.ts";
import { waitersIn } from "../delivery/transports/hook/waiters.ts";
import { objectTransport } from "../delivery/transports/object/transport.ts";
import type { ProbingTransport, Transport } from "../delivery/transports/port.ts";
import { pullTransport } from "../delivery/transports/pull/transport.ts";
import { standardInputTransport } from "../delivery/transports/stdin/transport.ts";
import { workspaceInboxTransport } from "../delivery/transports/workspaceInbox/transport.ts";
import type { HookPlace } from "../intake/hooks/place.ts";
import type { Workspaces } from "../intake/workspaces.ts";
import type { Objects } from "../objects/objects.ts";
import { claudeInboxTransport } from "../providers/claude-code/transports/inbox/transport.ts";
import type { Connections } from "../providers/connections.ts";
import type { TransportSurroundings } from "../providers/port.ts";
import type { Clock, RandomBytes } from "../model/ids.ts";

export interface TransportParts extends Omit<TransportSurroundings, "home" | "pane" | "hooksReach"> {
  readonly config: HomeConfig;
  readonly root: string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomBytes;
  readonly tmux: ProbingTransport;
  readonly connections: Connections;
  readonly objects: Objects;
  readonly workspaces: Workspaces;
  readonly hookPlace: HookPlace;
}

export function allTransports(parts: TransportParts): ReadonlyMap<string, Transport> {
  const { config, root, clock, timers, random, tmux, connections, objects, workspaces, hookPlace, proofOf, command } =
    parts;
  const { reportedState, watch } = connections;
  const waiters = waitersIn(hookPlace.bells, timers);
  const pane = heldByReportedState(tmux, reportedState);
  const inbox = claudeInboxTransport({ layout: config.claudeTeams.layout, patience: { clock, timers, random } });
  const surroundings = { ...parts, home: root, pane: tmux, hooksReach: (agent: Agent) => hooksReach(agent, waiters) };
  const transports: readonly Transport[] = [
    pane,
    inbox,
    paneAndInboxTransport({ pane, inbox }),
    hookTransport({ waiters, reportedState, command, watchState: watch, proofOf, timers }),
    ...connections.all.flatMap((one) => one.transports?.(surroundings) ?? []),
    standardInputTransport({ timers }),
    objectTransport(objects),
    workspaceInboxTransport(workspaces),
    pullTransport,
  ];
  return new Map(transports.map((transport) => [transport.name, transport]));
}
