/**
 * One process of Tieline in the simulation: the real router, mailbox, courier, transports, transcript watcher and
 * hooks, over ports that die with the process.
 */
import { lookupsOver } from "../../agents/directory/lookups.ts";
import { Directory } from "../../agents/directory/directory.ts";
import type { Documents } from "../../agents/directory/documents/port.ts";
import { recordObservations } from "../../agents/status/recordObservations.ts";
import { heldByReportedState, preferReportedState, type ReadReportedState } from "../../agents/status/reportedState.ts";
import { readEndpointsWith } from "../../compose/endpoints.ts";
import { providers } from "../../compose/providers.ts";
import { createCourier, type Courier, type CourierParts } from "../../delivery/courier.ts";
import { Outages } from "../../delivery/outages.ts";
import { followClock, moveBackDeadlines } from "../../delivery/setClock.ts";
import { TranscriptWatcher } from "../../delivery/transcriptWatcher.ts";
import { hookTransport } from "../../delivery/transports/hook/transport.ts";
import type { Transport } from "../../delivery/transports/port.ts";
import {
  claudeSocketTransport,
  type ClaudeSocketParts,
} from "../../providers/claude-code/transports/socket/transport.ts";
import { tmuxTransport, type TmuxTransportParts } from "../../delivery/transports/tmux/transport.ts";
import { PaneWatch } from "../../delivery/transports/tmux/watch.ts";
import { UncertainNotices } from "../../delivery/uncertain.ts";
import { textOf } from "../../delivery/transports/hook/hookText.ts";
import type { HookWaiters } from "../../delivery/transports/hook/waiters.ts";
import { whenToolOrTurn } from "../../delivery/transports/hook/whenToolOrTurn.ts";
import type { HookHandler } from "../../providers/hooks/hookHandler.ts";
import { openMailbox } from "../../mailbox/mailbox.ts";
import type { Mailbox } from "../../mailbox/port.ts";
import type { Store } from "../../mailbox/store.ts";
import type { Agent } from "../../model/agent.ts";
import type { Clock, RandomBytes } from "../../model/ids.ts";
import type { GrowingFiles } from "../../os/growingFiles.ts";
import type { Exec } from "../../os/exec.ts";
import type { SpawnPiped } from "../../os/pipedProcess.ts";
import type { Processes } from "../../os/processes.ts";
import { SteadyClock } from "../../os/steadyClock.ts";
import type { Timers } from "../../os/timers.ts";
import type { UserScreens } from "../../providers/userScreens.ts";
import type { Transcript } from "../../providers/transcripts/port.ts";
import { routes } from "../../routing/directoryRouting.ts";
import { loopGuard } from "../../routing/loopGuard.ts";
import { createRouter, type Router } from "../../routing/router.ts";
import { TmuxServer } from "../../tmux/server.ts";
import type { Life } from "./virtualTime.ts";

/** The world as one process sees it. */
export interface DaemonPorts {
  readonly life: Life;
  readonly timers: Timers;
  /** The wall clock. */
  readonly wall: Clock;
  readonly random: RandomBytes;
  readonly store: Store;
  readonly documents: Documents;
  readonly exec: Exec;
  readonly spawn: SpawnPiped;
  /** Whether Tieline keeps a control client; else each command list is a process of its own. */
  readonly attaches: boolean;
  readonly processes: Processes;
  readonly screens: UserScreens;
  readonly transcript: (agent: Agent) => Transcript | null;
  /** The files of transcripts. */
  readonly files: GrowingFiles;
  readonly reportedState: ReadReportedState;
  /** The inbox sockets of sessions: which one an agent has, and what writes to it. */
  readonly socketOf: (agent: Agent) => string | null;
  readonly writeSocket: NonNullable<ClaudeSocketParts["write"]>;
  readonly report: (context: string, fault: unknown) => void;
}

/** Known bugs that a test puts back, at the seams of the parts. */
export interface Mutation {
  readonly mailbox?: (mailbox: Mailbox) => Mailbox;
  readonly store?: (store: Store) => Store;
  readonly exec?: (exec: Exec) => Exec;
  readonly courier?: Partial<CourierParts>;
  readonly tmux?: Partial<TmuxTransportParts>;
  readonly transports?: (transports: Map<string, Transport>) => Map<string, Transport>;
}

export interface Daemon {
  readonly life: Life;
  readonly mailbox: Mailbox;
  readonly directory: Directory;
  readonly router: Router;
  readonly courier: Courier;
  readonly hook: HookHandler;
}

const nothing: Disposable = { [Symbol.dispose]: () => undefined };
/** The hooks of a simulated program ask in its turns, and leave no waiter behind. */
const noWaiters: HookWaiters = {
  ...{ hasBell: () => false, isHeard: () => false, isReading: () => false, give: () => null, watch: () => nothing },
};
const guards = { maxHops: 1_000, perPairPerMinute: 100_000, perSenderPerMinute: 100_000 };

/** Resolves once the process serves. */
export async function startDaemon(ports: DaemonPorts, mutation: Mutation): Promise<Daemon> {
  const { life, timers, wall, random, documents, processes, report, reportedState } = ports;
  const elapsed = timers.elapsed;
  const steady = new SteadyClock({ wall, elapsed, uptime: elapsed });
  const clock = steady.now;
  const store = mutation.store?.(ports.store) ?? ports.store;
  const opened = openMailbox(store, { clock, timers, random });
  const mailbox = mutation.mailbox?.(opened) ?? opened;
  const directory = new Directory(documents, () => undefined, readEndpointsWith(report), clock, random);
  const agentOf: CourierParts["agent"] = (id) => directory.agent(id);
  const noProfiles = { lookup: () => null, names: () => [] };
  const lookups = lookupsOver({ roster: directory.roster, profiles: noProfiles, projectOf: () => null });
  const router = createRouter({
    ...{ mailbox, clock, random, emit: () => undefined, guard: loopGuard(mailbox, guards, clock) },
    ...routes(
      directory,
      lookups,
      () => () => null,
      () => undefined,
      { isNativeOnly: () => false },
    ),
  });

  const server = new TmuxServer({
    socketPath: "/tmux",
    exec: mutation.exec?.(ports.exec) ?? ports.exec,
    ...{ spawn: ports.spawn, timers, random: repeatingWords(random), mayAttach: () => ports.attaches },
  });
  const watches = new PaneWatch(report, { clock, timers });
  const outages = new Outages({ mailbox, report, clock, random });
  const transcriptWatcher = new TranscriptWatcher({
    ...{ mailbox, clock, timers, report, agent: agentOf, transcript: ports.transcript, model: outages },
    files: ports.files,
  });
  const proofOf: TranscriptWatcher["proofOf"] = (agent, message) => transcriptWatcher.proofOf(agent, message);
  const observed = recordObservations(directory, { startingMs: 30_000, clock });
  const tmux = tmuxTransport({
    ...{ providers, processes, watches, clock, timers, report, proofOf, server: () => server, agent: agentOf },
    ...{ platform: "linux", ttyMode: async () => "raw", observed: preferReportedState(observed, reportedState) },
    ...{ screens: ports.screens, ...mutation.tmux },
  });
  const all: readonly Transport[] = [
    heldByReportedState(tmux, reportedState),
    hookTransport({ waiters: noWaiters, watchState: () => nothing, reportedState, proofOf, timers }),
    claudeSocketTransport({
      ...{ sessions: sessionsOver(ports), hooksReach: () => false, write: ports.writeSocket, proofOf, timers },
    }),
  ];
  const byName = new Map(all.map((transport) => [transport.name, transport]));
  const transports = mutation.transports?.(byName) ?? byName;
  const courier = createCourier({
    ...{ mailbox, transports, report, clock, timers, model: outages, agent: agentOf },
    ...mutation.courier,
  });
  const uncertain = new UncertainNotices({ mailbox, agent: agentOf, report, clock, timers, random });
  const hook = whenToolOrTurn({ courier, text: (message, call, _agent, limit) => textOf(message, call, limit) });

  transcriptWatcher.start();
  uncertain.start();
  await moveBackDeadlines(mailbox, clock, () => undefined);
  await courier.start();
  void followClock({
    ...{ mailbox, steady, report, timers, note: () => undefined, signal: new AbortController().signal },
    replan: () => courier.replan(),
  });
  return { life, mailbox, directory, router, courier, hook };
}

/** tmux needs words that differ at one time. Those that come again after a while let it read the same lists again. */
function repeatingWords(random: RandomBytes): RandomBytes {
  const words: Uint8Array[] = [];
  let next = 0;
  return (count) => (words[next++ % 32] ??= random(count)).slice(0, count);
}

function sessionsOver({ socketOf, reportedState }: DaemonPorts): ClaudeSocketParts["sessions"] {
  return {
    of(agent) {
      const messagingSocketPath = socketOf(agent);
      if (messagingSocketPath === null) return null;
      const session = { pid: 1, cwd: "/work", sessionId: agent.sessionId ?? "", pane: undefined, alive: true };
      return { ...session, status: "unknown", messagingSocketPath };
    },
    reportedState,
    acceptsPeers: () => true,
    watch: () => nothing,
  };
}
