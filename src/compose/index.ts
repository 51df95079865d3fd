/**
 * The switch, put together. Only this file and the folder beside it name concrete drivers: `compose/programs.ts` those
 * of agent programs, `compose/transports.ts` the ways in, `compose/audience.ts` those who listen to events.
 */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { reachableNames } from "../routing/addresses/reach.ts";
import type { Lookups } from "../routing/addresses/rules.ts";
import { audienceOf, type Audience } from "./audience.ts";
import { agentPrograms, linksTo, retryReasonOf, type Programs } from "./programs.ts";
import { allTransports } from "./transports.ts";
import { loadHomeConfig, type HomeConfig } from "../config/home.ts";
import { Projects } from "../config/projects.ts";
import { createCourier, type Courier } from "../delivery/courier.ts";
import { Directory } from "../agents/directory/directory.ts";
import { documentMigrations, sqliteDocuments } from "../agents/directory/documents/sqlite.ts";
import { lookupsOver } from "../agents/directory/lookups.ts";
import { Profiles } from "../agents/profiles/profiles.ts";
import { teamsOver, type Teams } from "../agents/teams.ts";
import { openEventStore } from "../events/sqlite.ts";
import { Spine } from "../events/spine.ts";
import { loopGuard } from "../routing/loopGuard.ts";
import { copyistCommand } from "../os/install.ts";
import { ClaudeReplies } from "../providers/claude-code/replies.ts";
import { serveNativeTeams } from "../providers/claude-code/teams/serve.ts";
import type { HookChain } from "../intake/hooks/chain.ts";
import { HookFlags } from "../intake/hooks/flags.ts";
import { emitters } from "../intake/hooks/handlers/emitters.ts";
import { nativeSend } from "../intake/hooks/handlers/nativeSend.ts";
import { turnText } from "../intake/hooks/handlers/turnText.ts";
import { hookPlaceIn, type HookPlace } from "../intake/hooks/place.ts";
import { standardHooks } from "../intake/hooks/standard.ts";
import { outputsOf } from "../intake/outputs.ts";
import { Submissions } from "../intake/submissions.ts";
import { Workspaces } from "../intake/workspaces.ts";
import type { AdoptParts } from "../agents/adopt/adopt.ts";
import { NativeMembers } from "../providers/claude-code/teams/native/members.ts";
import { sessionOf } from "../agents/layout/place.ts";
import { TmuxServers } from "../agents/layout/servers.ts";
import type { SandboxSurroundings } from "../agents/start/prepare.ts";
import { Spawner } from "../agents/start/spawner.ts";
import { AgentStarter } from "../agents/start/starter.ts";
import { Backups } from "../mailbox/backups.ts";
import { Indexing } from "../mailbox/indexing.ts";
import { openMailbox } from "../mailbox/mailbox.ts";
import type { Mailbox } from "../mailbox/port.ts";
import { daysMs, Retention } from "../mailbox/retention.ts";
import { openMailboxFile } from "../mailbox/sqlite/file.ts";
import { mailboxMigrations } from "../mailbox/sqlite/schema.ts";
import { Snapshots } from "../mailbox/sqlite/snapshots.ts";
import { sqliteStore } from "../mailbox/sqlite/store.ts";
import { endpointBy, type Agent } from "../model/agent.ts";
import type { AgentId, Clock } from "../model/ids.ts";
import type { Profile } from "../model/profile.ts";
import { Objects } from "../objects/objects.ts";
import { readRegistry, type RegisteredSession } from "../providers/claude-code/registry.ts";
import { isClaude } from "../providers/claude-code/sessions.ts";
import { runningCodex } from "../providers/codex/running.ts";
import { runningOpencode } from "../providers/opencode/running.ts";
import { ProgramAnswers } from "../providers/programAnswers.ts";
import { tielineCommand } from "../providers/tielineCommand.ts";
import { UserScreens } from "../providers/userScreens.ts";
import { createRouter, type Router, type RouterParts } from "../routing/router.ts";
import { routes } from "../routing/directoryRouting.ts";
import { SteadyClock } from "../os/steadyClock.ts";
import { ageingClock, followClock, moveBackDeadlines } from "../delivery/setClock.ts";
import { Borders } from "../agents/layout/borders.ts";
import { Viewers } from "../agents/layout/viewers.ts";
import { observing } from "../agents/status/observing.ts";
import { inOwnWords } from "../agents/status/ownWord.ts";
import { Sensing } from "../agents/status/sensing.ts";
import { Outages } from "../delivery/outages.ts";
import { UncertainNotices } from "../delivery/uncertain.ts";
import { Retries } from "../delivery/retries.ts";
import { systemProcesses, type Processes } from "../os/processes.ts";
import { claudeInboxEndpoint } from "../providers/claude-code/transports/inbox/transport.ts";
import { followUpInboxes } from "../providers/claude-code/transports/inbox/followUp.ts";
import { hookEndpoint } from "../delivery/transports/hook/transport.ts";
import { objectEndpoint } from "../delivery/transports/object/transport.ts";
import type { ProbingTransport, Transport } from "../delivery/transports/port.ts";
import { tmuxTransport } from "../delivery/transports/tmux/transport.ts";
import { PaneWatch } from "../delivery/transports/tmux/watch.ts";
import { openWorkspaceInbox } from "../delivery/transports/workspaceInbox/write.ts";
import { getsNotices } from "../delivery/transportSelection.ts";
import { Trust } from "../agents/trust/trust.ts";
import { Witness } from "../delivery/transcriptWatcher.ts";

export interface SwitchOptions {
  readonly root: string;
  readonly mailboxPath: string;
  /** Where copies of the mailbox are kept. */
  readonly backupsDirectory: string;
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
  readonly report: (context: string, fault: unknown) => void;
  /** Told every tmux command and its answer; null: nobody wants to know. */
  readonly debug?: ((line: string) => void) | null;
  /** The NATS server that the environment names; null: the one of the settings. */
  readonly natsUrl?: string | null;
  /** For the log: something that is no fault. */
  readonly note?: (text: string) => void;
  readonly clock?: Clock;
}

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
  /** The sessions that Claude Code has registered for the user. */
  readonly claudeSessions: () => Promise<readonly RegisteredSession[]>;
  readonly starter: AgentStarter;
  /** The user has trusted the project of a team: what waited for that goes on. */
  readonly trustChanged: (root: string) => void;
  readonly objects: Objects;
  readonly workspaces: Workspaces;
  readonly tmux: ProbingTransport;
  readonly sensing: Sensing;
  readonly claude: Programs["claude"];
  readonly codex: Programs["codex"];
  readonly running: AdoptParts["running"];
  readonly native: NativeMembers;
  readonly witness: Pick<Witness, "canProve">;
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

const mebibyte = 1024 * 1024;

/** By which a program could act as the user: tmux, keys, agents for keys, the session's own services. */
function secretsOf({ env, tmuxSocket }: Pick<SwitchOptions, "env" | "tmuxSocket">): string[] {
  const { HOME, SSH_AUTH_SOCK, XDG_RUNTIME_DIR } = env;
  return [
    dirname(tmuxSocket),
    SSH_AUTH_SOCK,
    XDG_RUNTIME_DIR,
    HOME && join(HOME, ".ssh"),
    HOME && join(HOME, ".gnupg"),
  ].filter((path): path is string => Boolean(path));
}

/** Throws DatabaseTaken when another process serves this home. */
export function compose(options: SwitchOptions): Switch {
  const steady = new SteadyClock();
  const { report, clock = steady.now, env, note = () => undefined } = options;
  mkdirSync(options.root, { recursive: true, mode: 0o700 });
  const config = loadHomeConfig(options.configPath);
  const { maxAgeDays, maxMegabytes, eventsMegabytes } = config.retention;
  const maxAgeMs = daysMs(maxAgeDays);

  // What is kept: mail, agents, what happened.
  const eventsPath = join(options.root, "events.db");
  const { connection, checkpoints, changes } = openMailboxFile(
    options.mailboxPath,
    { mailbox: mailboxMigrations, documents: documentMigrations },
    { report, signsOfUse: [eventsPath, join(options.root, "user.token")] },
  );
  const pruneClock: Clock =
    options.clock ?? ageingClock(steady, () => mailbox.log({ limit: 1 })[0]?.message.acceptedAt ?? null, maxAgeMs);
  const events = new Spine(openEventStore(eventsPath, report, clock), {
    report,
    clock,
    pruneClock,
    maxAgeMs,
    maxBytes: eventsMegabytes * mebibyte,
  });
  const { emit, onEvent } = events;
  const mailbox = openMailbox(sqliteStore(connection), {
    clock,
    maxAttempts: config.delivery.retries + 1,
    maxBytes: maxMegabytes * mebibyte,
  });
  const documents = sqliteDocuments(connection);
  const directory = new Directory(documents, emit, clock);
  const agentOf = (id: AgentId): Agent | null => directory.agent(id);
  const projects = new Projects();
  const profiles = new Profiles(options.profilesDirectory);
  const teams = teamsOver(directory, projects, documents);
  const programs = agentPrograms(env, clock, report);
  const command = tielineCommand({ home: options.root, program: join(options.root, "bin", "tieline") });

  // Who may write to whom.
  const native = new NativeMembers({
    ...{
      configDir: programs.claudeConfig,
      home: mailbox.id,
      directory,
      mailbox,
      endpoint: claudeInboxEndpoint,
      rootsOf: () => teams.claims.roots(),
    },
    isDeclared: (team, name) => lookups.profile(team, name)?.origin === "project",
    changed: (agent) => courier.wake(agent),
  });
  const lookups = lookupsOver({
    roster: directory.roster,
    profiles,
    projectOf: teams.projectOf,
    overlayOf: teams.overlayOf,
    foundedTeams: teams.founded,
    nativeMembers: (asker, team, name) => native.find(asker, team, name),
    nativeNames: () => native.names(),
  });
  const reachable = (agent: Agent): readonly string[] => reachableNames(agent, lookups);
  const profileOf = ({ team, profile }: Agent): Profile | null =>
    profile === null ? null : lookups.profile(team, profile);
  const trust = new Trust({
    documents,
    profiles,
    projectOf: teams.projectOf,
    path: env["PATH"] ?? "",
    binDirectory: options.binDirectory,
    clock,
  });
  /** Which files are read as an agent's output is for trusted files to say. */
  const loggedProfileOf = (agent: Agent): Profile | null => {
    const seen = profileOf(agent);
    return seen === null || seen.project === null || seen.logs.length === 0
      ? seen
      : trust.profileIfTrusted(agent.team, seen.name);
  };
  const profileToStart = (team: string, name: string): Profile | null => trust.profileToStart(team, name);
  const ways = routes(directory, lookups, () => trust.profiles(), emit);
  const router = createRouter({ mailbox, guard: loopGuard(mailbox, config.guards, clock), emit, clock, ...ways });

  // Panes: written to, looked at, shown.
  const processes = systemProcesses();
  const servers = new TmuxServers({ env, timeoutMs: config.terminal.execTimeout }, options.debug ?? null, (socket) =>
    viewers.moved(socket),
  );
  const serverAt = servers.at.bind(servers);
  const watches = new PaneWatch(report, clock);
  const traceOf: Witness["traceOf"] = (agent, message) => witness.traceOf(agent, message);
  const tmux = tmuxTransport({
    ...{ processes, watches, clock, report, command, traceOf, server: serverAt, agent: agentOf },
    enterRepeats: config.delivery.retries,
    defaults: { copyMode: config.delivery.copyMode, quietMs: config.delivery.quietMs },
    screens: new UserScreens(options.screensDirectory),
    timeoutMs: config.delivery.timeoutMs,
    readyTimeoutMs: config.delivery.readyTimeoutMs,
    pollIntervalMs: config.delivery.pollIntervalMs,
    observed: inOwnWords(observing(directory, { startingMs: config.spawn.readyTimeoutMs, clock }), programs.said),
  });
  const sensing = new Sensing({ eyes: tmux, directory, onEvent, report });
  const borders = new Borders({
    server: serverAt,
    agent: agentOf,
    pending: (id) => mailbox.pending(id),
    onEvent,
    report,
  });
  const viewers: Viewers = new Viewers({
    ...{ server: serverAt, report },
    agents: () => directory.agents(),
    sessionOf: (agent) => sessionOf(agent, config),
    attend: (wanted) => sensing.attend(wanted),
  });

  // Mail that does not come by command, and those who are no programs.
  const submissions = new Submissions({
    mailbox,
    router,
    report,
    getsNotices: (agent) => getsNotices(directory.agent(agent.id) ?? agent, (name) => transports.get(name)!),
  });
  const workspaces = new Workspaces({
    ...{ mailbox, documents, report, reachable, submissions, clock },
    agents: () => directory.agents(),
    openInbox: openWorkspaceInbox,
    outputsOf: (agent) => outputsOf(agent, loggedProfileOf(agent)),
  });
  onEvent((event) => {
    if (
      event.type === "agent.registered" ||
      event.type === "agent.removed" ||
      (event.type === "agent.changed" && event.state === "starting")
    )
      workspaces.refresh();
  });
  const objects = new Objects({
    directory,
    mailbox,
    router,
    documents,
    report,
    clock,
    projectOf: teams.projectOf,
    trusted: (root) => trust.objectsOf(root),
    env,
    endpoint: objectEndpoint,
  });
  const replies = new ClaudeReplies({
    ...{ router, mailbox, report },
    agentAt: (path) =>
      directory.agents().find((agent) => isClaude(agent) && programs.claude.of(agent)?.messagingSocketPath === path) ??
      null,
  });

  // Delivery, and its proof.
  const hookPlace = hookPlaceIn(options.root);
  const outages = new Outages({ mailbox, report });
  const witness: Witness = new Witness({
    ...{ mailbox, clock, report, agent: agentOf },
    transcript: (agent, since) => programs.transcripts.of(agent, since),
    found(agent, sessionId) {
      if (agent.provider === "codex" && directory.agent(agent.id)?.sessionId !== sessionId)
        directory.update(agent.id, { sessionId });
    },
    detailOf: (delivery) => hooks.urgency.stoppedBy(delivery),
    model: outages,
  });
  const retries = new Retries({
    mailbox,
    agent: agentOf,
    retrying: retryReasonOf(programs, tmux),
    model: outages,
    report,
  });
  const uncertain = new UncertainNotices({ mailbox, agent: agentOf, report });
  const transports = allTransports({
    config,
    root: options.root,
    tmux,
    programs,
    replies,
    objects,
    workspaces,
    hookPlace,
    traceOf,
    command,
    clock,
  });
  const courier = createCourier({
    mailbox,
    transports,
    report,
    clock,
    model: outages,
    timeoutMs: config.delivery.timeoutMs,
    retryMs: config.delivery.pollIntervalMs,
    agent: agentOf,
  });
  const hooks = standardHooks({
    ...{ directory, mailbox, courier, report, clock },
    joined(agent, { sessionId, transcriptPath }) {
      if (transcriptPath !== null) programs.transcripts.learn(agent, sessionId, transcriptPath);
      const known = endpointBy("hook", agent);
      if (known?.locator["sessionId"] === sessionId) return;
      directory.update(agent.id, {
        endpoints: [...agent.endpoints.filter((one) => one !== known), hookEndpoint(sessionId)],
      });
      courier.wake(agent.id);
    },
    observed(agent, state) {
      if (isClaude(agent)) programs.claude.heard(agent, state);
    },
    command,
    hasReadRefusal: (agent, call, refused) => programs.transcripts.hasReadRefusal(agent, call, refused),
    more: [
      ...nativeSend({ router, knownNatively: (name, agent) => programs.claude.knows(name, agent) }),
      turnText(
        submissions,
        (agent) => profileOf(agent)?.markers ?? false,
        (agent, path) => programs.transcripts.lengthAt(agent, path),
      ),
      ...emitters(emit),
    ],
  });
  const flags = new HookFlags({
    mailbox,
    agentOf,
    place: hookPlace,
    isRefusing: (id) => hooks.urgency.isRefusing(id),
    report,
    clock,
  });
  const links = linksTo(programs, { directory, mailbox, courier, events, report });

  // Agents that are started, by command or by their mail.
  const surroundings = (): SandboxSurroundings => ({
    ...trust.around(directory.teams().flatMap(({ root }) => root ?? [])),
    secrets: secretsOf(options),
  });
  const answers = new ProgramAnswers();
  const starter = new AgentStarter({
    ...{
      surroundings,
      directory,
      profileToStart,
      servers,
      processes,
      config,
      courier,
      mailbox,
      tmux,
      reachable,
      options,
    },
    directoryOf: (team) => teams.projectOf(team)?.root ?? null,
    hooks: { hook: hookPlace.hook, wait: hookPlace.wait },
    ask: (asked) => answers.of(asked),
    command,
    report,
  });
  const spawner = new Spawner({
    ...{ mailbox, clock, report, agent: agentOf, mayStart: ways.mayStart },
    perMinute: config.spawn.perMinute,
    start: async (agent) => void (await starter.start(agent)),
    explain: (agent, why) => {
      directory.observe(agent.id, "gone", why);
      courier.wake(agent.id);
    },
  });

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
    events,
    mailbox,
    directory,
    nats: { ...config.nats, url: natsUrl },
    clock,
  });
  const copyistEnv = { ...env, BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" };
  const snapshots = new Snapshots({ path: options.mailboxPath, checkpoints, command: copyistCommand, env: copyistEnv });
  const backups = new Backups({
    ...{ report, clock, changes, directory: options.backupsDirectory, keep: config.backup.keep },
    everyMs: config.backup.everyHours * 3_600_000,
    maxBytes: config.backup.maxMegabytes * mebibyte,
    copy: (to) => snapshots.take(to),
  });
  const retention = new Retention(mailbox, { maxAgeMs, maxBytes: maxMegabytes * mebibyte, report, clock: pruneClock });
  const indexing = new Indexing({ mailbox, report });

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
        configDir: programs.claudeConfig,
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
  for (const one of [programs, courier]) open.use(one);
  for (const one of [objects, workspaces]) open.defer(() => one.close());
  for (const one of [borders, sensing, viewers, witness, retries, uncertain, replies]) open.use(one);
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
    claudeSessions: async () => (await readRegistry(programs.claudeConfig)).sessions,
    starter,
    trustChanged,
    objects,
    workspaces,
    tmux,
    sensing,
    claude: programs.claude,
    codex: programs.codex,
    running: {
      codex: (program) => runningCodex(program, report),
      opencode: (program) => runningOpencode(program, report),
    },
    native,
    witness,
    hooks: flags.follow(hooks.chain),
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
      witness.start();
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
