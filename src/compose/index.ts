/**
 * The switch, put together from one file per area. Only this folder names concrete drivers:
 * `providers.ts` the agent programs, `transports.ts` the transports that belong to no program.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { loadHomeConfig } from "../config/home.ts";
import { followClock, moveBackDeadlines } from "../delivery/setClock.ts";
import type { TranscriptWatcher } from "../delivery/transcriptWatcher.ts";
import { getsNotices } from "../delivery/transportSelection.ts";
import { hookPlaceIn } from "../intake/hooks/place.ts";
import { systemRandom } from "../model/ids.ts";
import { SteadyClock } from "../os/steadyClock.ts";
import { systemTimers } from "../os/timers.ts";
import { claudeFolder } from "../providers/claude-code/folder.ts";
import { serveNativeTeams } from "../providers/claude-code/teams/serve.ts";
import { followUpInboxes } from "../providers/claude-code/transports/inbox/followUp.ts";
import { claudeInboxEndpoint } from "../providers/claude-code/transports/inbox/transport.ts";
import { Connections } from "../providers/connections.ts";
import { tielineCommand } from "../providers/tielineCommand.ts";
import { agentsOf, type Agents } from "./agents.ts";
import { audienceOf, type Audience } from "./audience.ts";
import { deliveryOf, type DeliveryArea } from "./delivery.ts";
import { hooksOf, type Hooks } from "./hooks.ts";
import { intakeOf, type Intake } from "./intake.ts";
import type { ComposeOptions, Foundation } from "./options.ts";
import { panesOf, type Panes } from "./panes.ts";
import { providers } from "./providers.ts";
import { startingOf, type Starting } from "./starting.ts";
import { openStorage, type Storage } from "./storage.ts";

/**
 * The parts of a home, by area, and their life. Nothing outside this folder gets it whole: `apiOf` and the daemon pick
 * from it what each consumer declares.
 */
export interface Composition extends AsyncDisposable {
  readonly foundation: Foundation;
  readonly storage: Storage;
  readonly agents: Agents;
  readonly connections: Connections;
  readonly panes: Panes;
  readonly intake: Intake;
  readonly delivery: DeliveryArea;
  readonly hooks: Hooks;
  readonly starting: Starting;
  readonly audience: Audience;
  /** Begins to serve. Until then nothing is delivered or started. */
  start(): Promise<void>;
}

/** Throws DatabaseTaken when another process serves this home. */
export function compose(options: ComposeOptions): Composition {
  const steady = new SteadyClock();
  const { report, clock = steady.now, timers = systemTimers, random = systemRandom, env } = options;
  const { note = () => undefined } = options;
  mkdirSync(options.root, { recursive: true, mode: 0o700 });
  const config = loadHomeConfig(options.configPath);
  const command = tielineCommand({ home: options.root, program: join(options.root, "bin", "tieline"), providers });
  const claudeConfig = claudeFolder(env);
  const foundation: Foundation = { options, config, clock, timers, random, report, command };

  const storage = openStorage(foundation, steady);
  const { mailbox, documents, events, snapshots, backups, retention, indexing } = storage;
  const connections = new Connections(providers, { env, clock, timers, report });
  const agents = agentsOf({
    ...{ ...foundation, mailbox, documents, events, claudeConfig },
    wake: (agent) => courier.wake(agent),
  });
  const { directory, agentOf, teams, native, router } = agents;
  const proofOf: TranscriptWatcher["proofOf"] = (agent, message) => transcriptWatcher.proofOf(agent, message);
  const panes = panesOf({
    ...foundation,
    mailbox,
    events,
    directory,
    agentOf,
    reportedState: connections.reportedState,
    proofOf,
  });
  const { processes, servers, watches, tmux, statusMonitor, borders, viewers } = panes;
  const intake = intakeOf({
    ...{ ...foundation, mailbox, documents, events, agents },
    getsNotices: (agent) => getsNotices(agent, (name) => delivery.transports.get(name)!),
  });
  const { submissions, workspaces, objects } = intake;
  const hookPlace = hookPlaceIn(options.root);
  const delivery: DeliveryArea = deliveryOf({
    ...{ ...foundation, mailbox, directory, agentOf, tmux, workspaces, objects, connections, hookPlace, router },
    detailOf: (id) => hooks.urgency.stoppedBy(id),
  });
  const { courier, retries, uncertain } = delivery;
  const transcriptWatcher: TranscriptWatcher = delivery.transcriptWatcher;
  const hooks = hooksOf({
    ...{ ...foundation, mailbox, events, directory, agentOf, router, profileOf: agents.profileOf },
    ...{ courier, submissions, connections, place: hookPlace },
  });
  const { flags } = hooks;
  const linked = {
    ...{ directory, mailbox, onEvent: events.onEvent, changed: courier.wake.bind(courier) },
    reconsider: courier.reconsider.bind(courier),
  };
  const links = connections.all.flatMap((one) => one.links?.(linked) ?? []);
  const starting = startingOf({ ...foundation, mailbox, servers, processes, tmux, courier, agents, hookPlace });
  const { starter, spawner } = starting;

  const audience = audienceOf({
    ...{ events, mailbox, directory, clock, timers },
    nats: { ...config.nats, url: options.natsUrl ?? config.nats.url },
  });

  /** Claude Code's own teams, until told to stop. */
  function serveTeams(signal: AbortSignal): Promise<unknown> {
    const { layout } = config.claudeTeams;
    return Promise.all([
      followUpInboxes({ mailbox, report, agent: agentOf, layout, signal, clock, timers }),
      serveNativeTeams({
        ...{ directory, mailbox, router, documents, events, report, signal, root: options.root, ...config.claudeTeams },
        ...{ clock, timers, random },
        members: native,
        processes,
        endpoint: claudeInboxEndpoint,
        policy: config.delivery.policy,
        argv: (pid) => processes.argv(pid),
        configDir: claudeConfig,
        projectOf: teams.projectOf,
      }),
    ]);
  }
  const stopping = new AbortController();
  let nativeTeams: Promise<unknown> = Promise.resolve();
  let following: Promise<unknown> = Promise.resolve();

  // Closed from the last to the first: what starts things, then the courier, then what both use.
  const open = new AsyncDisposableStack();
  for (const one of [events, mailbox, snapshots, audience.nats, servers]) open.use(one);
  open.defer(() => watches.close());
  for (const one of [connections, courier]) open.use(one);
  for (const one of [objects, workspaces]) open.defer(() => one.close());
  for (const one of [borders, statusMonitor, viewers, transcriptWatcher, retries, uncertain]) open.use(one);
  open.use(flags);
  for (const link of links) open.use(link);
  open.defer(async () => {
    stopping.abort();
    await Promise.all([nativeTeams, following]);
  });
  for (const one of [starter, spawner, indexing, retention, backups]) open.use(one);

  return {
    ...{ foundation, storage, agents, connections, panes, intake, delivery, hooks, starting, audience },
    async start() {
      objects.start();
      nativeTeams = serveTeams(stopping.signal);
      for (const link of links) link.start();
      transcriptWatcher.start();
      flags.start();
      retries.start();
      uncertain.start();
      await moveBackDeadlines(mailbox, clock, note);
      await courier.start();
      if (options.clock === undefined)
        following = followClock({
          mailbox,
          steady,
          timers,
          replan: () => courier.replan(),
          report,
          note,
          signal: stopping.signal,
        });
      workspaces.start();
      starter.recover();
      spawner.start();
      indexing.start();
      retention.start();
      backups.start();
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
