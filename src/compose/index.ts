/**
 * The switch, put together from one file per area. Only this folder names concrete drivers:
 * `providers.ts` the agent programs, `transports.ts` the transports that belong to no program.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Directory } from "../agents/directory/directory.ts";
import type { TmuxServers } from "../agents/layout/servers.ts";
import type { Profiles } from "../agents/profiles/profiles.ts";
import type { AgentStarter } from "../agents/start/starter.ts";
import type { StatusMonitor } from "../agents/status/statusMonitor.ts";
import type { Teams } from "../agents/teams.ts";
import type { Trust } from "../agents/trust/trust.ts";
import { loadHomeConfig, type HomeConfig } from "../config/home.ts";
import type { Projects } from "../config/projects.ts";
import type { Courier } from "../delivery/courier.ts";
import { followClock, moveBackDeadlines } from "../delivery/setClock.ts";
import type { TranscriptWatcher } from "../delivery/transcriptWatcher.ts";
import type { ProbingTransport, Transport } from "../delivery/transports/port.ts";
import { getsNotices } from "../delivery/transportSelection.ts";
import type { Spine } from "../events/spine.ts";
import type { HookChain } from "../intake/hooks/chain.ts";
import { hookPlaceIn, type HookPlace } from "../intake/hooks/place.ts";
import type { Workspaces } from "../intake/workspaces.ts";
import type { Backups } from "../mailbox/backups.ts";
import type { Mailbox } from "../mailbox/port.ts";
import type { Snapshots } from "../mailbox/sqlite/snapshots.ts";
import type { Clock } from "../model/ids.ts";
import type { Objects } from "../objects/objects.ts";
import type { Processes } from "../os/processes.ts";
import { SteadyClock } from "../os/steadyClock.ts";
import { claudeFolder } from "../providers/claude-code/folder.ts";
import { serveNativeTeams } from "../providers/claude-code/teams/serve.ts";
import { teamProtocol } from "../providers/claude-code/teams/teamProtocol.ts";
import { followUpInboxes } from "../providers/claude-code/transports/inbox/followUp.ts";
import { claudeInboxEndpoint } from "../providers/claude-code/transports/inbox/transport.ts";
import { Connections } from "../providers/connections.ts";
import type { NativeTeams, RequestProtocol } from "../providers/nativeTeams.ts";
import type { Providers } from "../providers/providers.ts";
import { tielineCommand } from "../providers/tielineCommand.ts";
import type { Lookups } from "../routing/addresses/rules.ts";
import type { Router, RouterParts } from "../routing/router.ts";
import { agentsOf } from "./agents.ts";
import { audienceOf, type Audience } from "./audience.ts";
import { deliveryOf } from "./delivery.ts";
import { hooksOf } from "./hooks.ts";
import { intakeOf } from "./intake.ts";
import type { ComposeOptions } from "./options.ts";
import { panesOf } from "./panes.ts";
import { providers } from "./providers.ts";
import { startingOf } from "./starting.ts";
import { openStorage } from "./storage.ts";

export interface Switch extends AsyncDisposable {
  readonly config: HomeConfig;
  /** The time of everything that this switch writes down. */
  readonly clock: Clock;
  readonly mailbox: Mailbox;
  readonly directory: Directory;
  readonly projects: Projects;
  readonly profiles: Profiles;
  readonly teams: Teams;
  readonly trust: Trust;
  readonly lookups: Lookups;
  readonly router: Router;
  readonly courier: Courier;
  readonly transports: ReadonlyMap<string, Transport>;
  readonly servers: TmuxServers;
  readonly processes: Processes;
  readonly providers: Providers;
  readonly connections: Connections;
  readonly starter: AgentStarter;
  /** The user has trusted the project of a team: what waited for that continues. */
  readonly trustChanged: (root: string) => void;
  readonly objects: Objects;
  readonly workspaces: Workspaces;
  readonly tmux: ProbingTransport;
  readonly statusMonitor: StatusMonitor;
  readonly native: NativeTeams;
  readonly protocol: RequestProtocol;
  readonly transcriptWatcher: Pick<TranscriptWatcher, "canProve">;
  readonly hooks: HookChain;
  readonly hookPlace: HookPlace;
  readonly tmuxSocket: string;
  /** Whom an address means for a sender, as when sending to it. */
  readonly resolve: RouterParts["resolve"];
  readonly events: Spine;
  readonly backups: Pick<Backups, "make" | "list" | "fault">;
  /** Looks through a copy of the whole mailbox. */
  readonly checkMailbox: Snapshots["check"];
  readonly activities: Audience["activities"];
  readonly metrics: Audience["metrics"];
  readonly nats: Audience["nats"];
  readonly natsUrl: string | null;
  /** Begins to serve. Until then nothing is delivered or started. */
  start(): Promise<void>;
}

/** Throws DatabaseTaken when another process serves this home. */
export function compose(options: ComposeOptions): Switch {
  const steady = new SteadyClock();
  const { report, clock = steady.now, env, note = () => undefined } = options;
  mkdirSync(options.root, { recursive: true, mode: 0o700 });
  const config = loadHomeConfig(options.configPath);
  const command = tielineCommand({ home: options.root, program: join(options.root, "bin", "tieline"), providers });
  const claudeConfig = claudeFolder(env);
  const foundation = { options, config, clock, report, command };

  const storage = openStorage(foundation, steady);
  const { mailbox, documents, events, snapshots, backups, retention, indexing } = storage;
  const connections = new Connections(providers, { env, clock, report });
  const agents = agentsOf({
    ...{ ...foundation, mailbox, documents, events, claudeConfig },
    wake: (agent) => courier.wake(agent),
  });
  const { directory, agentOf, projects, profiles, teams, trust, native, lookups, ways, router } = agents;
  const proofOf: TranscriptWatcher["proofOf"] = (agent, message) => transcriptWatcher.proofOf(agent, message);
  const panes = panesOf({ ...foundation, mailbox, events, directory, agentOf, said: connections.said, proofOf });
  const { processes, servers, watches, tmux, statusMonitor, borders, viewers } = panes;
  const { submissions, workspaces, objects } = intakeOf({
    ...{ ...foundation, mailbox, documents, events, agents },
    getsNotices: (agent) => getsNotices(agent, (name) => transports.get(name)!),
  });
  const hookPlace = hookPlaceIn(options.root);
  const delivery = deliveryOf({
    ...{ ...foundation, mailbox, directory, agentOf, tmux, workspaces, objects, connections, hookPlace, router },
    detailOf: (id) => hooks.urgency.stoppedBy(id),
  });
  const { courier, transports, retries, uncertain } = delivery;
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

  const trustChanged = (root: string): void => {
    for (const team of teams.claims.teamsAt(root)) {
      objects.trustChanged(team);
      // Mail may have waited for an object that was not there.
      for (const { id } of directory.roster.inTeam(team)) courier.wake(id);
    }
    workspaces.refresh();
    spawner.trustChanged();
  };

  const natsUrl = options.natsUrl ?? config.nats.url;
  const { activities, metrics, nats } = audienceOf({
    ...{ events, mailbox, directory, clock },
    nats: { ...config.nats, url: natsUrl },
  });

  /** Claude Code's own teams, until told to stop. */
  function serveTeams(signal: AbortSignal): Promise<unknown> {
    const { layout } = config.claudeTeams;
    return Promise.all([
      followUpInboxes({ mailbox, report, agent: agentOf, layout, signal, clock }),
      serveNativeTeams({
        ...{ directory, mailbox, router, documents, events, report, signal, root: options.root, ...config.claudeTeams },
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

  // Ended from the last to the first: what hears and starts things, then the courier, then what they stand on.
  const open = new AsyncDisposableStack();
  for (const one of [events, mailbox, snapshots, nats, servers]) open.use(one);
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
    config,
    clock,
    mailbox,
    directory,
    projects,
    profiles,
    teams,
    trust,
    lookups,
    router,
    courier,
    transports,
    servers,
    processes,
    providers,
    connections,
    starter,
    trustChanged,
    objects,
    workspaces,
    tmux,
    statusMonitor,
    native,
    protocol: teamProtocol,
    transcriptWatcher,
    hooks: hooks.chain,
    hookPlace,
    tmuxSocket: options.tmuxSocket,
    resolve: ways.resolve,
    events,
    backups,
    checkMailbox: () => snapshots.check(),
    activities,
    metrics,
    nats,
    natsUrl,
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
