import { checkAgentName, isLive, type Agent } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import { systemClock, type Clock } from "../../model/ids.ts";
import type { Directory } from "../directory/directory.ts";
import type { Connections } from "../../providers/connections.ts";
import type { NativeTeams } from "../../providers/nativeTeams.ts";
import type { RunningProgram } from "../../providers/port.ts";
import type { Providers } from "../../providers/providers.ts";
import { actingIn, actingWords, agentProgramBehind, type Acting } from "../../providers/acting.ts";
import type { TerminalTraits } from "../../providers/traits.ts";
import { cursorLine, listPanes, snapshotPane, type PaneFacts } from "../../tmux/pane.ts";
import { foreground, isSameProcess, type ProcessFacts, type Processes } from "../../os/processes.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import { groupBelow, isBareShell, isShell } from "../../os/shell.ts";
import { endpointsInPane, type PaneLocator, tmuxEndpoint } from "../../delivery/transports/paneEndpoint.ts";
import { lookFor, type Patience } from "../start/patience.ts";
import { claimWorkspace } from "../start/workspace.ts";

export interface Adoption {
  /** `%14`, or the exact name of a session, whose active pane is meant. */
  readonly target: string;
  readonly name: string;
  readonly team: string;
  readonly provider?: string | undefined;
  readonly role?: string | undefined;
  readonly workspace?: string | undefined;
}

export interface AdoptParts extends Patience {
  readonly providers: Providers;
  readonly directory: Directory;
  readonly processes: Processes;
  readonly clock?: Clock;
  readonly connections: Pick<Connections, "registered" | "running">;
  /** Members of teams that programs keep themselves, one of which the program may be. */
  readonly native: Pick<NativeTeams, "runningAs" | "isNativeOnly">;
}

/** Makes a program that already runs in a pane reachable under a name. */
export async function adopt(server: TmuxServer, adoption: Adoption, parts: AdoptParts): Promise<Agent> {
  const { directory, processes, providers, connections, native } = parts;
  checkAgentName(adoption.name);
  const pane = await findPane(server, adoption.target);
  const front = pane.dead ? undefined : await programIn(pane, parts);
  if (front === undefined) throw nothingRuns(pane);
  const program = adoption.provider === "shell" ? front : await behindShell(front, parts);
  if (isTmux(program)) throw showsAnotherTmux(pane);
  const argv = await processes.argv(program.pid);
  const provider = await chooseProvider(adoption.provider, program, argv, pane, parts);
  checkPaneIsFree(directory, adoption, pane, server.socketPath);
  const restingLine = await lineAtRest(server, pane, program, parts);
  const found = await findOut(provider, program, argv, adoption, parts);
  const endpoints = [
    ...endpointsInPane(
      providers.of(provider),
      locatorOf(
        server,
        pane,
        program,
        { restingLine, ...(adoption.provider === "generic" && { trusted: true }) },
        parts.clock,
      ),
    ),
    ...(found?.endpoints ?? []),
  ];
  const { name, team, role } = adoption;
  const workspace = adoption.workspace && claimWorkspace(adoption.workspace, adoption, directory);
  const sessionId =
    (await connections.registered()).find(({ pid, alive }) => alive && pid === program.pid)?.sessionId ??
    found?.sessionId;
  const change = {
    provider,
    endpoints,
    ...(sessionId && { sessionId }),
    ...(role && { role }),
    ...(workspace && { workspace }),
  };
  const known = directory.roster.named(team, name);
  const member = native.runningAs({ provider, argv, sessionId: sessionId ?? null });
  if (member !== null && native.isNativeOnly(member) && (known === null || known.id === member.id))
    return merge(member, { name, team, ...change }, directory);
  if (known === null) return directory.register({ name, team, ...change });
  if (isLive(known) && !isIn(known, pane, server.socketPath) && (await stillRuns(known, processes)))
    throw nameIsLive(known, native.isNativeOnly(known));
  return directory.update(known.id, { ...change, state: "unknown", stateReason: null });
}

/** It stays the agent that others have written to, with its inbox, and is called as its adopter wants from now on. */
function merge(member: Agent, change: Pick<Agent, "name" | "team" | "endpoints">, directory: Directory): Agent {
  return directory.update(member.id, {
    ...change,
    endpoints: [...change.endpoints, ...member.endpoints],
    state: "unknown",
    stateReason: null,
  });
}

/**
 * The program in the foreground. In a pane that just came there is none until its process has the terminal, and its
 * arguments.
 */
async function programIn(pane: PaneFacts, parts: AdoptParts): Promise<ProcessFacts | undefined> {
  const { processes } = parts;
  const found = await lookFor(
    async () => {
      const program = await foreground(processes, pane.pid);
      if (
        program !== undefined &&
        !becomesAnother.has(program.command) &&
        (await processes.argv(program.pid)).length > 0
      )
        return program;
      return (await processes.read(pane.pid)) === undefined ? "ended" : undefined;
    },
    comingUpMs,
    parts,
  );
  return found === "ended" ? undefined : found;
}

const comingUpMs = 2_000;

/**
 * What a new pane's process is for a moment: a fork of tmux itself, then often `env`, which gives way to what it runs.
 */
const becomesAnother: ReadonlySet<string> = new Set(["tmux: server", "env"]);

/** A shell that runs a script shares the terminal with what it runs. A known program there is the agent. */
async function behindShell(front: ProcessFacts, { processes, providers }: AdoptParts): Promise<ProcessFacts> {
  if (!isShell(front)) return front;
  for (const one of await groupBelow(front, processes))
    if (providers.ofProgram(one.command, await processes.argv(one.pid)) !== null) return one;
  return front;
}

/**
 * The cursor's line. A program that still computes and has drawn nothing there is waited for: its prompt is no draft.
 */
async function lineAtRest(
  server: TmuxServer,
  pane: PaneFacts,
  { pid }: ProcessFacts,
  parts: AdoptParts,
): Promise<string> {
  const { processes } = parts;
  const drawn = await lookFor(
    async () => {
      const computing = (await processes.read(pid))?.computing ?? false;
      const line = cursorLine(await snapshotPane(server, pane.id));
      return line === "" && computing ? undefined : line;
    },
    comingUpMs,
    parts,
  );
  return drawn ?? "";
}

async function findOut(
  provider: string,
  program: ProcessFacts,
  argv: readonly string[],
  { name, team }: Adoption,
  { directory, processes, connections }: AdoptParts,
): Promise<RunningProgram | null> {
  return connections.running(provider, async () => {
    const others = directory.agents().filter((agent) => isLive(agent) && !(agent.name === name && agent.team === team));
    const taken = new Set(others.flatMap(({ sessionId }) => sessionId ?? []));
    const pids = [program, ...(await groupBelow(program, processes))].map(({ pid }) => pid);
    return { pids, argv, taken };
  });
}

/** Everything that identifies this agent in this pane, now and later. */
export function locatorOf(
  server: TmuxServer,
  pane: PaneFacts,
  program: ProcessFacts,
  terminal: Partial<TerminalTraits>,
  clock: Clock = systemClock,
): PaneLocator {
  return {
    socket: server.socketPath,
    serverPid: pane.serverPid,
    serverStartedAt: pane.serverStartedAt,
    pane: pane.id,
    panePid: pane.pid,
    agentPid: program.pid,
    agentStartMark: program.startMark,
    since: clock(),
    terminal,
  };
}

async function findPane(server: TmuxServer, target: string): Promise<PaneFacts> {
  await server.version();
  const panes = await listPanes(server);
  if (target.startsWith("%")) {
    const pane = panes.find(({ id }) => id === target);
    if (pane) return pane;
  } else {
    const inSession = panes.filter(({ sessionName }) => sessionName === target);
    if (inSession.length === 1) return inSession[0]!;
    if (inSession.length > 1) throw severalPanes(target, inSession);
  }
  throw new TielineError("PANE_UNKNOWN", `there is no pane or session ${target} on ${server.socketPath}`, {
    remedy: "`tmux list-panes -a` lists the panes; `$TMUX_PANE` is your own",
    operands: { target, socket: server.socketPath },
  });
}

/**
 * The provider that was asked for, or the one that the program's name tells. What runs the text that it is given is
 * adopted only when asked for, in a form that does not run.
 */
async function chooseProvider(
  wanted: string | undefined,
  program: ProcessFacts,
  argv: readonly string[],
  pane: PaneFacts,
  { processes, providers }: AdoptParts,
): Promise<string> {
  if (wanted !== undefined) checkProvider(wanted, providers);
  if (isBareShell(program, argv) && wanted !== "shell") {
    throw new TielineError(
      "CONFLICT",
      `${pane.id} is a bare shell (${program.command}); text typed there would run as commands`,
      {
        remedy: "start the agent program in it first, or adopt the shell itself with --provider shell",
        operands: { pane: pane.id, command: program.command },
      },
    );
  }
  const provider =
    wanted ??
    providers.ofProgram(program.command, argv) ??
    (await agentProgramBehind(program, processes, providers)) ??
    "generic";
  if (!typesByItself.has(provider)) return provider;
  const acting = await actingIn(program, processes, providers);
  if (acting !== null && !isMeant(acting, provider, wanted === "generic")) throw wouldRun(pane, acting, providers);
  if (provider === "repl" && acting?.kind !== "interpreter") throw noInterpreter(pane, program);
  return provider;
}

/** Providers whose screens do not show what reads the text. */
const typesByItself: ReadonlySet<string> = new Set(["generic", "repl", "shell"]);

/** What nothing is typed to, unless it shows a prompt of its own, may be adopted; its mail waits and says why. */
function isMeant({ kind, behind, apart, comment }: Acting, provider: string, insisted: boolean): boolean {
  if (kind === "keys" || (apart && insisted)) return true;
  if (provider === "shell") return kind === "shell" || kind === "remote";
  return provider === "repl" && kind === "interpreter" && behind === null && comment !== null;
}

export function checkProvider(provider: string, { names }: Pick<Providers, "names">): void {
  if (names.includes(provider)) return;
  throw new TielineError("USAGE", `there is no provider ${provider}`, {
    remedy: `use one of ${names.join(", ")}`,
    operands: { provider },
  });
}

/** A client of another tmux: what is typed there goes to whichever pane it shows. */
export const isTmux = ({ command }: Pick<ProcessFacts, "command">): boolean => /^tmux(:|$)/.test(command);

function checkPaneIsFree(directory: Directory, { name, team }: Adoption, pane: PaneFacts, socket: string): void {
  const holder = directory.roster.byPane(pane.id).find((agent) => isLive(agent) && isIn(agent, pane, socket));
  if (holder === undefined || (holder.name === name && holder.team === team)) return;
  throw new TielineError("CONFLICT", `${pane.id} is already the agent ${holder.team}:${holder.name}`, {
    remedy: `write to it as ${holder.name}, or \`tieline rm ${holder.name}\` first`,
    operands: { pane: pane.id, agent: holder.name },
  });
}

/** Its program may have exited unobserved, as all do with their tmux server. */
async function stillRuns(agent: Agent, processes: Processes): Promise<boolean> {
  const inPane = agent.endpoints.find(({ transport }) => transport === "tmux");
  if (inPane === undefined) return true;
  const { agentPid: pid, agentStartMark: startMark } = tmuxEndpoint.locatorOf(inPane);
  return isSameProcess(processes, { pid, startMark });
}

export function isIn(agent: Agent, pane: PaneFacts, socket: string): boolean {
  return agent.endpoints.some((endpoint) => {
    if (endpoint.transport !== "tmux") return false;
    const locator = tmuxEndpoint.locatorOf(endpoint);
    return locator.socket === socket && locator.serverPid === pane.serverPid && locator.pane === pane.id;
  });
}

const nothingRuns = (pane: PaneFacts): TielineError =>
  new TielineError("PANE_UNKNOWN", `nothing runs in ${pane.id} any more`, {
    remedy: "start the agent program there, then adopt it",
    operands: { pane: pane.id },
  });

const showsAnotherTmux = (pane: PaneFacts): TielineError =>
  new TielineError(
    "CONFLICT",
    `${pane.id} runs another tmux; text typed there would go to whichever pane that one shows`,
    {
      remedy: "adopt the pane inside it: run `tieline adopt` in there, or name its server with TIELINE_TMUX_SOCKET",
      operands: { pane: pane.id },
    },
  );

const wouldRun = (pane: PaneFacts, acting: Acting, providers: Providers): TielineError =>
  new TielineError("CONFLICT", `${pane.id}: ${actingWords(acting)}`, {
    remedy: howToInsist(acting, providers),
    operands: { pane: pane.id, program: acting.name, kind: acting.kind },
  });

function howToInsist(
  { kind, behind, apart, comment, name }: Acting,
  { programs }: Pick<Providers, "programs">,
): string {
  if (apart) return `adopt it with --provider generic if ${behind} reads the text itself and shows a prompt for it`;
  const known = programs.map((one) => one.name);
  const names = `${known.slice(0, -1).join(", ")} or ${known.at(-1)}`;
  const agent = `name the agent program that runs there: --provider ${names}`;
  if (kind === "remote") return `run Tieline where that program runs, or ${agent}; --provider shell if it is a shell`;
  if (kind === "shell") return "start the agent program in it first, or adopt the shell itself with --provider shell";
  if (behind !== null || comment === null)
    return `start an agent program instead; Tieline knows no text that ${name} would leave alone there`;
  return "start an agent program instead, or adopt it with --provider repl: each message is then one comment line";
}

const noInterpreter = (pane: PaneFacts, { command }: ProcessFacts): TielineError =>
  new TielineError("CONFLICT", `${command} in ${pane.id} is not an interpreter that waits for lines`, {
    remedy: "leave --provider out, or name the program that runs there",
    operands: { pane: pane.id, command },
  });

const severalPanes = (session: string, panes: readonly PaneFacts[]): TielineError =>
  new TielineError("ADDRESS_AMBIGUOUS", `session ${session} has ${panes.length} panes`, {
    remedy: `name one: ${panes.map(({ id, currentCommand }) => `${id} (${currentCommand})`).join(", ")}`,
    operands: { session, candidates: panes.map(({ id }) => id) },
  });

const nameIsLive = (agent: Agent, isNative: boolean): TielineError =>
  new TielineError(
    "CONFLICT",
    `the agent ${agent.team}:${agent.name} is running ` +
      `elsewhere${isNative ? ", as a member of a Claude Code team" : ""}`,
    {
      remedy: isNative
        ? "choose another name"
        : `choose another name, or stop the other one first (tieline rm ${agent.name})`,
      operands: { agent: agent.name, team: agent.team },
    },
  );
