import { chmodSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { newToken } from "../agents/directory/token.ts";
import type { Caller, OperationName } from "../api/schema.ts";
import { pathOf, socketOnly } from "../api/wire.ts";
import type { Home } from "../client/home.ts";
import { apiOf, callersOf } from "../compose/api.ts";
import { compose } from "../compose/index.ts";
import type { ComposeOptions } from "../compose/options.ts";
import { configChange } from "../config/changed.ts";
import { loadHomeConfig } from "../config/home.ts";
import { refuseDuringMaintenance } from "../config/maintenance.ts";
import { secureHome } from "../config/privateHome.ts";
import { layHookPlace } from "../intake/hooks/place.ts";
import { asTielineError, TielineError } from "../model/errors.ts";
import { atomicWrite } from "../os/atomicWrite.ts";
import { runForever } from "../os/runForever.ts";
import { secretIn } from "../os/secretFile.ts";
import { guardedRoute } from "./api.ts";
import { eventStreams } from "./eventStreams.ts";
import { callerOnPort, callerOnSocket, createHandle, problem, unboundedBytes, type Handle } from "./http.ts";
import { emptyLongLogs, openLog } from "./log.ts";
import { openLoopback, type Loopback } from "./loopback.ts";
import type { McpDoor } from "./mcp.ts";
import { metricsAnswer } from "./metrics.ts";
import { openapi } from "./openapi.ts";
import { preferencesIn } from "./page/preferences.ts";
import { pageRoute } from "./page/route.ts";
import { PageSessions } from "./page/sessions.ts";
import { paneStreams } from "./paneStream.ts";
import { watchSocket } from "./socketWatch.ts";
import { watchStandstill } from "./standstill.ts";

export interface DaemonOptions {
  readonly home: Home;
  readonly version: string;
  readonly tmuxSocket: string;
  readonly env: Record<string, string>;
  readonly binDirectory: string;
  /** The file descriptor of this process's stderr, if its starter let it write to the log. */
  readonly stderr?: number;
}

export interface Daemon {
  /** Resolves when the daemon has stopped. */
  readonly stopped: Promise<void>;
  stop(): void;
  /** Writes down what nothing in the daemon caught. */
  report(context: string, fault: unknown): void;
}

/**
 * One process that serves a home. The process with the mailbox's lock is the daemon and may replace a socket that an
 * earlier one left behind; the others throw DatabaseTaken.
 */
export async function startDaemon({
  home,
  version,
  tmuxSocket,
  env,
  binDirectory,
  stderr,
}: DaemonOptions): Promise<Daemon> {
  const tightened = secureHome(home);
  const { logging, http } = loadHomeConfig(home.config);
  const log = openLog(home.log, { ...logging, ...(stderr !== undefined && { stderr }) });
  for (const note of tightened) log.info(note);
  await refuseDuringMaintenance(home.root);
  let loopback: Loopback | null = null;
  const options: ComposeOptions = {
    root: home.root,
    mailboxPath: home.mailbox,
    backupsDirectory: home.backups,
    configPath: home.config,
    profilesDirectory: home.agents,
    screensDirectory: home.screens,
    socketsDirectory: home.sockets,
    tmuxSocket,
    env,
    binDirectory,
    natsUrl: env["TIELINE_NATS_URL"] || env["GENIE_NATS_URL"] || null,
    report: (context, fault) => log.fault(context, fault),
    note: (text) => log.info(text),
    debug: logging.tmuxDebug ? (line) => log.info(line) : null,
  };
  const tieline = compose(options);
  try {
    // Maintenance that began a moment ago finds the mailbox taken.
    await refuseDuringMaintenance(home.root);
  } catch (thrown) {
    await tieline[Symbol.asyncDispose]();
    throw thrown;
  }
  const { clock, timers, random } = tieline.foundation;
  layHookPlace(tieline.hooks.place, { socket: home.socket, bun: process.execPath });
  const stopping = new AbortController();
  const userToken = secretIn(
    home.userToken,
    () => newToken(random),
    (note) => log.info(note),
  );
  const callers = callersOf(tieline, userToken);
  const sessions = new PageSessions({
    ...{ timers, random },
    directory: home.page,
    userToken,
    ports: () => loopback?.ports ?? new Set(),
    told: (note) => log.info(note),
    report: options.report,
  });
  const facts = {
    version,
    socket: home.socket,
    home: home.root,
    tightened,
    startedAt: clock(),
    stop: () => void timers.nextTurn().then(() => stopping.abort()),
    loopback: () => loopback,
  };
  const standstill = watchStandstill({ timers });
  const mayBeLate = (): boolean => standstill.isJustOver();
  const { rights, operations, hooks } = apiOf(tieline, {
    callers,
    facts,
    page: {
      sessions,
      preferences: preferencesIn(join(home.page, "preferences.json"), options.report),
      loopback: () => loopback,
    },
    mayBeLate,
  });
  const changedConfig = configChange(home.config, tieline.foundation.config);
  // For commands of the user; agents cannot restart the daemon.
  const settingsNotice = ({ cwd, token }: Caller): string[] =>
    cwd === undefined || token !== undefined ? [] : [changedConfig() ?? []].flat();
  const { mailbox, events } = tieline.storage;
  const { directory, teams, ways } = tieline.agents;
  const { servers, tmux, statusMonitor, processes } = tieline.panes;
  const { metrics, nats } = tieline.audience;
  const { courier } = tieline.delivery;
  const parts = {
    operations,
    report: options.report,
    notices: (caller: Caller, operation: OperationName) => [
      ...callers.noticesFor(caller, operation),
      ...settingsNotice(caller),
    ],
    mayBeLate,
    timers,
    answers: {
      "/metrics": metricsAnswer({ callers, mailbox, directory, courier, metrics, events, nats }),
      [pathOf("events")]: eventStreams({ callers, rights, mailbox, directory, teams, events, statusMonitor, timers }),
      "/v1/pane": paneStreams({ callers, directory, resolve: ways.resolve, servers, tmux, timers }),
      "/v1/openapi.json": async () => Response.json(openapi(version)),
    },
  };
  const onSocket = createHandle({ ...parts, callerOf: callerOnSocket(callers.isUsers), face: "socket" });
  const onPort = createHandle({
    ...parts,
    callerOf: callerOnPort(callers.isUsers),
    without: socketOnly,
    face: "port",
  });
  const mcp = mcpWhenAsked({ operations, callerOf: callerOnPort(callers.isUsers), report: options.report, version });
  const server = listen(home.socket, (request) => onSocket(request, stopping.signal), options.report);
  writePid(home.pidFile, (await processes.read(process.pid))?.startMark ?? "", options.report);
  const guard = { isKnown: callers.isKnown, stopping: stopping.signal };
  const routes = [
    guardedRoute("/v1", onPort, { ...guard, sessions }),
    guardedRoute("/mcp", mcp, guard),
    guardedRoute("/metrics", onPort, { ...guard, sessions }),
    pageRoute(sessions, { report: options.report, random }),
  ];
  loopback = await openLoopback({ configured: http.port, file: home.portFile, routes, report: options.report, timers });
  if (loopback.moved) {
    log.info(`${loopback.moved.why}: this daemon is at port ${loopback.port}, and every browser is signed out`);
    sessions.revokeAll();
  }
  await tieline.start();
  const spool = hooks.readSpool(stopping.signal);
  const shortLogs = runForever(
    "the logs of agents",
    stopping.signal,
    async () => {
      emptyLongLogs(home.sockets, logging.maxBytes);
      await timers.pause(shortLogsMs, stopping.signal);
    },
    options.report,
    { timers },
  );
  const socket = watchSocket(
    home.socket,
    () => {
      log.info(`${home.socket} was removed`);
      stopping.abort();
    },
    timers,
  );
  log.info(`listening at ${home.socket} (pid ${process.pid}, version ${version})`);

  const stopped = new Promise<void>((resolve, reject) => {
    const finish = async (): Promise<void> => {
      await Promise.all([server.stop(), loopback?.stop(), spool, shortLogs]);
      await tieline[Symbol.asyncDispose]();
      standstill[Symbol.dispose]();
      sessions[Symbol.dispose]();
      socket[Symbol.dispose]();
      // At the same place there may be the socket of another one by now.
      if (socket.isThere()) for (const file of [home.socket, home.pidFile]) rmSync(file, { force: true });
      log.info("stopped");
      log[Symbol.dispose]();
    };
    stopping.signal.addEventListener("abort", () => finish().then(resolve, reject), { once: true });
  });
  return { stopped, stop: () => stopping.abort(), report: options.report };
}

/** Only a command that gets no answer reads it, so a full disk must not keep the daemon from starting. */
function writePid(file: string, startMark: string, report: ComposeOptions["report"]): void {
  try {
    atomicWrite(file, `${process.pid} ${startMark}\n`);
  } catch (fault) {
    report(`write ${file}`, fault);
  }
}

/** How often the logs of agents' programs are looked at. */
const shortLogsMs = 60_000;

/** What speaks MCP is a quarter of all code; it is loaded for the first who asks. */
function mcpWhenAsked(door: McpDoor): Handle {
  return async (request, stopping) => (await import("./mcp.ts")).mcpHandle(door)(request, stopping);
}

/** It is moved to its place when it listens: Bun would remove whatever is there when the server stops. */
function listen(
  socket: string,
  fetch: (request: Request) => Promise<Response>,
  report: ComposeOptions["report"],
): Bun.Server<undefined> {
  mkdirSync(dirname(socket), { recursive: true, mode: 0o700 });
  const birthplace = join(dirname(socket), `.${process.pid}`);
  rmSync(birthplace, { force: true });
  const before = process.umask(0o177);
  try {
    // Waiting is what some callers came for. Bun honours idleTimeout on a unix socket, although its types do not say
    // so.
    const patient = { idleTimeout: 0 } as object;
    // Without a handler of our own Bun prints every fault with its source.
    const error = (fault: Error): Response => {
      report("a request on the socket", fault);
      return problem(asTielineError(fault));
    };
    const server = Bun.serve({ unix: birthplace, maxRequestBodySize: unboundedBytes, fetch, error, ...patient });
    chmodSync(birthplace, 0o600);
    renameSync(birthplace, socket);
    return server;
  } catch (cause) {
    throw new TielineError("DAEMON_UNAVAILABLE", `cannot listen at ${socket}`, {
      remedy: "check that its directory is writable, or set TIELINE_HOME to another one",
      operands: { socket },
      cause,
    });
  } finally {
    process.umask(before);
  }
}
