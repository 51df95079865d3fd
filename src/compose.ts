/** The switch, put together. The only file that names concrete drivers. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { loadHomeConfig, type HomeConfig } from "./config/home.ts";
import { Projects } from "./config/projects.ts";
import { createCourier, type Courier } from "./courier.ts";
import { openEventStore } from "./events/sqlite.ts";
import { Activities } from "./events/activity.ts";
import { factsOf } from "./events/facts.ts";
import { Metrics } from "./events/metrics.ts";
import { Spine } from "./events/spine.ts";
import { natsLinks } from "./events/nats/link.ts";
import { NatsPublisher } from "./events/nats/publisher.ts";
import { Directory } from "./directory/directory.ts";
import { documentMigrations, sqliteDocuments } from "./directory/documents/sqlite.ts";
import type { Lookups } from "./addressing/rules.ts";
import { lookupsOver } from "./directory/lookups.ts";
import { Profiles } from "./directory/profiles.ts";
import { teamsOver, type Teams } from "./directory/teams.ts";
import { reachableNames } from "./addressing/reach.ts";
import { loopGuard } from "./guards.ts";
import type { Agent } from "./model/agent.ts";
import { Submissions } from "./intake/submissions.ts";
import { turnText } from "./intake/hooks/handlers/turnText.ts";
import { outputsOf, Workspaces } from "./intake/workspaces.ts";
import type { Profile } from "./model/profile.ts";
import { serveNativeTeams } from "./intake/claudeTeams/serve.ts";
import { ClaudeReplies } from "./intake/claudeReplies.ts";
import type { HookChain } from "./intake/hooks/chain.ts";
import { flagWaitingMail } from "./intake/hooks/flags.ts";
import { nativeSend } from "./intake/hooks/handlers/nativeSend.ts";
import { hookPlaceIn, type HookPlace } from "./intake/hooks/place.ts";
import { emitters } from "./intake/hooks/handlers/emitters.ts";
import { standardHooks } from "./intake/hooks/standard.ts";
import { nativeAgents } from "./life/nativeMember.ts";
import { ClaudeLink } from "./life/claudeLink.ts";
import { CodexLink } from "./life/codexLink.ts";
import { ProgramLink, type TalkingProgram } from "./life/programLink.ts";
import type { AdoptParts } from "./life/adopt.ts";
import { sessionOf } from "./life/place.ts";
import { AgentStarter } from "./life/starter.ts";
import { TmuxServers } from "./life/servers.ts";
import { Spawner } from "./life/spawner.ts";
import { Indexing } from "./mailbox/indexing.ts";
import { openMailbox } from "./mailbox/mailbox.ts";
import { daysMs, Retention } from "./mailbox/retention.ts";
import type { Mailbox } from "./mailbox/port.ts";
import { mailboxMigrations } from "./mailbox/sqlite/schema.ts";
import { sqliteStore } from "./mailbox/sqlite/store.ts";
import { systemClock, type Clock, type MessageId } from "./model/ids.ts";
import { UserScreens } from "./providers/userScreens.ts";
import { Viewers } from "./seeing/viewers.ts";
import { Borders } from "./seeing/borders.ts";
import { observing } from "./sensing/observing.ts";
import { Sensing } from "./sensing/sensing.ts";
import { Objects } from "./objects/objects.ts";
import { readRegistry, type RegisteredSession } from "./providers/claude-code/registry.ts";
import { ClaudeSessions, isClaude } from "./providers/claude-code/sessions.ts";
import { runningCodex } from "./providers/codex/running.ts";
import { CodexThreads } from "./providers/codex/threads.ts";
import { runningOpencode } from "./providers/opencode/running.ts";
import { OpencodeSessions } from "./providers/opencode/sessions.ts";
import { PiSessions } from "./providers/pi/sessions.ts";
import { Transcripts } from "./providers/transcripts.ts";
import { createRouter, type Router, type RouterParts } from "./router.ts";
import { routes } from "./routes.ts";
import { heeding, inOwnWords, type OwnWord } from "./sensing/ownWord.ts";
import { connect } from "./sqlite/connection.ts";
import { systemProcesses, type Processes } from "./tmux/process.ts";
import type { ProbingTransport, Transport } from "./transports/port.ts";
import { objectEndpoint, objectTransport } from "./transports/object/transport.ts";
import { workspaceInboxTransport } from "./transports/workspace-inbox/transport.ts";
import { openWorkspaceInbox } from "./transports/workspace-inbox/write.ts";
import { pullTransport } from "./transports/pull/transport.ts";
import { codexQueueTransport } from "./transports/codex-queue/transport.ts";
import { codexServerTransport } from "./transports/codex-server/transport.ts";
import { opencodeServerTransport } from "./transports/opencode-server/transport.ts";
import { bothWaysTransport } from "./transports/both/transport.ts";
import { piExtensionTransport } from "./transports/pi-extension/transport.ts";
import { claudeInboxEndpoint, claudeInboxTransport } from "./transports/claude-inbox/transport.ts";
import { followUpInboxes } from "./transports/claude-inbox/followUp.ts";
import { claudeSocketTransport } from "./transports/claude-socket/transport.ts";
import { hookEndpoint, hooksReach, hookTransport } from "./transports/hook/transport.ts";
import { PaneWatch } from "./transports/tmux/watch.ts";
import { standardInputTransport } from "./transports/stdin/transport.ts";
import { streamJsonTransport } from "./transports/stream-json/transport.ts";
import { tmuxTransport } from "./transports/tmux/transport.ts";
import { Witness } from "./witness.ts";

export interface SwitchOptions {
  readonly root: string;
  readonly mailboxPath: string;
  readonly configPath: string;
  readonly profilesDirectory: string;
  readonly screensDirectory: string;
  /** Where programs of agents that we start may listen; short enough for the path of a socket. */
  readonly socketsDirectory: string;
  /** The tmux server for agents that we start, unless somebody says otherwise. */
  readonly tmuxSocket: string;
  /** The environment of tmux processes, and so of a tmux server that we start. */
  readonly env: Record<string, string>;
  /** Where the `tieline` command is, for agents that we start. */
  readonly binDirectory: string;
  /** The loopback port of http hooks; null while there is none. */
  readonly httpPort?: () => number | null;
  readonly report: (context: string, fault: unknown) => void;
  /** Told every tmux command and its answer; null: nobody wants to know. */
  readonly debug?: ((line: string) => void) | null;
  /** The NATS server that the environment names; null: the one of the settings. */
  readonly natsUrl?: string | null;
  readonly clock?: Clock;
}

export interface Switch extends AsyncDisposable {
  readonly config: HomeConfig;
  readonly mailbox: Mailbox;
  readonly directory: Directory;
  readonly projects: Projects;
  readonly profiles: Profiles;
  readonly teams: Teams;
  readonly lookups: Lookups;
  readonly router: Router;
  readonly courier: Courier;
  readonly transports: ReadonlyMap<string, Transport>;
  readonly servers: TmuxServers;
  readonly processes: Processes;
  /** The sessions that Claude Code has registered in the person's home. */
  readonly claudeSessions: () => Promise<readonly RegisteredSession[]>;
  readonly starter: AgentStarter;
  readonly objects: Objects;
  readonly workspaces: Workspaces;
  readonly tmux: ProbingTransport;
  readonly sensing: Sensing;
  readonly claude: ClaudeSessions;
  readonly codex: CodexThreads;
  readonly running: AdoptParts["running"];
  readonly witness: Pick<Witness, "canProve">;
  readonly hooks: HookChain;
  readonly hookPlace: HookPlace;
  readonly tmuxSocket: string;
  /** Whom an address means for a sender, as when sending to it. */
  readonly resolve: RouterParts["resolve"];
  readonly events: Spine;
  readonly activities: Activities;
  readonly metrics: Metrics;
  readonly nats: NatsPublisher | null;
  readonly natsUrl: string;
  /** Begins to serve. Until then nothing is delivered or started. */
  start(): Promise<void>;
}

/** What agents did before the daemon started is told from so many of the last events. */
const rememberedEvents = 2_000;

/** Throws DatabaseTaken when another process serves this home. */
export function compose(options: SwitchOptions): Switch {
  const { report, clock = systemClock } = options;
  mkdirSync(options.root, { recursive: true, mode: 0o700 });
  const config = loadHomeConfig(options.configPath);
  const connection = connect(options.mailboxPath, { mailbox: mailboxMigrations, documents: documentMigrations });
  const events = new Spine(openEventStore(join(options.root, "events.db"), report), {
    report,
    clock,
    maxAgeMs: daysMs(config.retention.maxAgeDays),
    maxBytes: config.retention.eventsMegabytes * 1024 * 1024,
  });
  const { emit } = events;

  const mailbox = openMailbox(sqliteStore(connection, options.mailboxPath), { clock, maxAttempts: config.delivery.retries + 1 });
  const documents = sqliteDocuments(connection, options.mailboxPath);
  const directory = new Directory(documents, emit, clock);
  const projects = new Projects();
  const profiles = new Profiles(options.profilesDirectory);
  const teams = teamsOver(directory, projects, documents);
  const stopping = new AbortController();
  let nativeTeams: Promise<unknown> = Promise.resolve();
  const claudeConfig = options.env["CLAUDE_CONFIG_DIR"] || join(options.env["HOME"] ?? "/", ".claude");
  const native = nativeAgents({ configDir: claudeConfig, home: mailbox.id, directory, endpoint: claudeInboxEndpoint });
  const lookups = lookupsOver({ roster: directory.roster, profiles, projectOf: teams.projectOf, overlayOf: teams.overlayOf, nativeMember: native.member, nativeNames: native.names });
  const guard = loopGuard(mailbox, config.guards, clock);
  const ways = routes(directory, lookups, emit);
  const router = createRouter({ mailbox, guard, emit, clock, ...ways });

  const userHome = options.env["HOME"];
  const processes = systemProcesses();
  const servers = new TmuxServers({ env: options.env, timeoutMs: config.terminal.execTimeout }, options.debug ?? null, (socket) => viewers.moved(socket));
  const watches = new PaneWatch(report, clock);
  const claude = new ClaudeSessions({ configDir: claudeConfig, clock });
  const codex = new CodexThreads({ codexHome: options.env["CODEX_HOME"] || join(userHome ?? "/", ".codex") });
  const opencode = new OpencodeSessions({ clock });
  const pi = new PiSessions({ clock });
  const transcripts = new Transcripts(claude, codex);
  const word: OwnWord = (agent) => (isClaude(agent) ? claude.said(agent) : (codex.said(agent) ?? opencode.said(agent) ?? pi.said(agent)));
  const tmux = tmuxTransport({
    server: (socket) => servers.at(socket),
    processes,
    watches,
    clock,
    enterRepeats: config.delivery.retries,
    defaults: { copyMode: config.delivery.copyMode, quietMs: config.delivery.quietMs },
    screens: new UserScreens(options.screensDirectory),
    timeoutMs: config.delivery.timeoutMs,
    readyTimeoutMs: config.delivery.readyTimeoutMs,
    pollIntervalMs: config.delivery.pollIntervalMs,
    agent: (id) => directory.agent(id),
    report,
    observed: inOwnWords(observing(directory, { startingMs: config.spawn.readyTimeoutMs, clock }), word),
  });
  const reachable = (agent: Agent): readonly string[] => reachableNames(agent, lookups);
  const profileOf = ({ team, profile }: Agent): Profile | null => (profile === null ? null : lookups.profile(team, profile));
  const submissions = new Submissions({ mailbox, router, report });
  const workspaces = new Workspaces({
    ...{ mailbox, documents, report, reachable },
    agents: () => directory.agents(),
    submissions,
    openInbox: openWorkspaceInbox,
    outputsOf: (agent) => outputsOf(agent, profileOf(agent)),
  });
  const objects = new Objects({ directory, mailbox, router, documents, report, projectOf: teams.projectOf, env: options.env, endpoint: objectEndpoint });
  const borders = new Borders({
    server: (socket) => servers.at(socket),
    agent: (id) => directory.agent(id),
    pending: (id) => mailbox.pending(id),
    onEvent: (listener) => events.onEvent(listener),
    report,
  });
  const viewers = new Viewers({
    server: (socket) => servers.at(socket),
    agents: () => directory.agents(),
    sessionOf: (agent) => sessionOf(agent, config),
    attend: (wanted) => sensing.attend(wanted),
    report,
  });
  const sensing = new Sensing({ eyes: tmux, directory, onEvent: (listener) => events.onEvent(listener), report });
  const witness: Witness = new Witness({
    mailbox,
    clock,
    report,
    agent: (id) => directory.agent(id),
    transcript: (agent) => transcripts.of(agent),
    detailOf: (delivery) => hooks.urgency.stoppedBy(delivery),
  });
  const traceOf: Witness["traceOf"] = (agent, message) => witness.traceOf(agent, message);
  const hookPlace = hookPlaceIn(options.root);
  const hookSetup = () => ({ port: options.httpPort?.() ?? null, hook: hookPlace.hook, wait: hookPlace.wait });
  const replies = new ClaudeReplies({ router, mailbox, report, agentAt: (path) => directory.agents().find((agent) => isClaude(agent) && claude.of(agent)?.messagingSocketPath === path) ?? null });
  const claudeSocket = claudeSocketTransport({ sessions: claude, traceOf, replyPath: (session) => replies.beside(session.messagingSocketPath!), hooksReach: (agent) => hooksReach(agent, hookPlace.bells) });
  const codexServer = codexServerTransport({ threads: codex });
  const codexQueue = codexQueueTransport({ pane: tmux, clock });
  const watchState = (agent: Agent, changed: () => void): Disposable => (agent.provider === "codex" ? codex.watch(agent, { changed }) : claude.watch(agent, changed));
  const hook = hookTransport({ bells: hookPlace.bells, said: word, watchState, traceOf });
  const streamJson = streamJsonTransport({ home: options.root, said: word, watchState: (agent, changed) => claude.watch(agent, changed), traceOf });
  const pane = heeding(tmux, word);
  const claudeInbox = claudeInboxTransport({ layout: config.claudeTeams.layout });
  const transports = new Map<string, Transport>([pane, bothWaysTransport({ pane, inbox: claudeInbox }), claudeSocket, codexServer, codexQueue, opencodeServerTransport({ sessions: opencode }), piExtensionTransport({ sessions: pi }), hook, claudeInbox, streamJson, standardInputTransport(), objectTransport(objects), workspaceInboxTransport(workspaces), pullTransport].map((transport) => [transport.name, transport]));
  const courier = createCourier({ mailbox, transports, report, clock, timeoutMs: config.delivery.timeoutMs, retryMs: config.delivery.pollIntervalMs, agent: (id) => directory.agent(id) });
  const starter = new AgentStarter({ directory, lookups, servers, processes, config, courier, mailbox, tmux, directoryOf: (team) => teams.projectOf(team)?.root ?? null, reachable, hooks: hookSetup, options });
  const hooks = standardHooks({
    directory,
    mailbox,
    courier,
    report,
    clock,
    joined(agent, { sessionId, transcriptPath }) {
      if (transcriptPath !== null) transcripts.learn(agent, sessionId, transcriptPath);
      const known = agent.endpoints.find(({ transport }) => transport === "hook");
      if (known?.locator["sessionId"] === sessionId) return;
      directory.update(agent.id, { endpoints: [...agent.endpoints.filter((one) => one !== known), hookEndpoint(sessionId)] });
      courier.wake(agent.id);
    },
    observed(agent, state) {
      if (isClaude(agent)) claude.heard(agent, state);
    },
    hasReadRefusal: (call, refused) => transcripts.hasReadRefusal(call, refused),
    more: [...nativeSend({ router, knownNatively: (name, agent) => claude.knows(name, agent) }), turnText(submissions, (agent) => profileOf(agent)?.markers ?? false), ...emitters(emit)],
  });
  const claudeLink = new ClaudeLink({ sessions: claude, directory, onEvent: (listener) => events.onEvent(listener), changed: (agent) => courier.wake(agent) });
  const codexLink = new CodexLink({
    ...{ threads: codex, directory },
    onEvent: (listener) => events.onEvent(listener),
    changed: (agent) => courier.wake(agent),
    turnEnded: (agent) => void courier.reconsider(agent).catch((fault: unknown) => report(`reconsider the mail of ${agent}`, fault)),
  });
  const talking: readonly TalkingProgram[] = [opencode, pi];
  const programLinks = talking.map(
    (program) =>
      new ProgramLink({ program, directory, mailbox, report, onEvent: (listener) => events.onEvent(listener), changed: (agent) => courier.wake(agent), reconsider: (agent, handed) => courier.reconsider(agent, handed) }),
  );
  const stopFlags = flagWaitingMail(mailbox, (id) => directory.agent(id), hookPlace);
  const spawner = new Spawner({
    mailbox,
    clock,
    perMinute: config.spawn.perMinute,
    agent: (id) => directory.agent(id),
    report,
    mayStart: ways.mayStart,
    start: async (agent) => void (await starter.start(agent)),
    explain: (agent, why) => {
      directory.observe(agent.id, "gone", why);
      courier.wake(agent.id);
    },
  });
  const activities = new Activities({
    named: (team, name) => directory.roster.named(team, name),
    newestMailAt: (agent) => mailbox.inbox(agent, { limit: 1 })[0]?.message.acceptedAt ?? null,
  });
  for (const event of events.upTo(events.last, rememberedEvents)) activities.observe(event);
  events.onEvent((event) => activities.observe(event));
  const metrics = new Metrics();
  events.onEvent((event) => metrics.observe(event));
  const natsUrl = options.natsUrl ?? config.nats.url;
  const contentOf = (id: MessageId): string | null => mailbox.message(id)?.body ?? null;
  const nats = config.nats.enabled ? new NatsPublisher(natsLinks({ ...config.nats, url: natsUrl }), { prefix: config.nats.prefix, contentOf, clock }) : null;
  if (nats) events.onEvent((event) => nats.offer(event));
  events.onEvent((event) => {
    if (event.type === "agent.registered" || event.type === "agent.removed" || (event.type === "agent.changed" && event.state === "starting")) workspaces.refresh();
  });
  const { maxAgeDays, maxMegabytes } = config.retention;
  const retention = new Retention(mailbox, { maxAgeMs: daysMs(maxAgeDays), maxBytes: maxMegabytes * 1024 * 1024, report, clock });
  const indexing = new Indexing({ mailbox, report });
  mailbox.onTransitions((changes) => {
    for (const fact of factsOf(changes)) emit(fact);
  });

  return {
    config,
    mailbox,
    directory,
    projects,
    profiles,
    teams,
    lookups,
    router,
    courier,
    transports,
    servers,
    processes,
    claudeSessions: async () => (userHome === undefined ? [] : (await readRegistry(join(userHome, ".claude"))).sessions),
    starter,
    objects,
    workspaces,
    tmux,
    sensing,
    claude,
    codex,
    running: { codex: runningCodex, opencode: runningOpencode },
    witness,
    hooks: hooks.chain,
    hookPlace,
    tmuxSocket: options.tmuxSocket,
    resolve: ways.resolve,
    events,
    activities,
    metrics,
    nats,
    natsUrl,
    async start() {
      objects.start();
      claudeLink.start();
      nativeTeams = Promise.all([followUpInboxes({ mailbox, report, agent: (id) => directory.agent(id), layout: config.claudeTeams.layout, signal: stopping.signal, clock }), serveNativeTeams({ ...{ directory, mailbox, router, documents, events, report, memberOf: native.member, endpoint: claudeInboxEndpoint }, root: options.root, ...config.claudeTeams, policy: config.delivery.policy, argv: (pid) => processes.argv(pid), configDir: claudeConfig, projectOf: teams.projectOf, signal: stopping.signal })]);
      codexLink.start();
      for (const link of programLinks) link.start();
      witness.start();
      await courier.start();
      workspaces.start();
      spawner.start();
      indexing.start();
      retention.start();
    },
    async [Symbol.asyncDispose]() {
      retention[Symbol.dispose]();
      indexing[Symbol.dispose]();
      spawner[Symbol.dispose]();
      claudeLink[Symbol.dispose]();
      stopping.abort();
      await nativeTeams;
      codexLink[Symbol.dispose]();
      for (const link of programLinks) link[Symbol.dispose]();
      stopFlags();
      await replies[Symbol.asyncDispose]();
      await witness[Symbol.asyncDispose]();
      viewers[Symbol.dispose]();
      await sensing[Symbol.asyncDispose]();
      await borders[Symbol.asyncDispose]();
      await workspaces.close();
      await objects.close();
      await courier[Symbol.asyncDispose]();
      await codex[Symbol.asyncDispose]();
      await opencode[Symbol.asyncDispose]();
      await pi[Symbol.asyncDispose]();
      await watches.close();
      await servers[Symbol.asyncDispose]();
      await nats?.[Symbol.asyncDispose]();
      await mailbox[Symbol.asyncDispose]();
      events[Symbol.dispose]();
    },
  };
}
