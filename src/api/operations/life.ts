/** From the first start of an agent to its last: spawn, adopt what is found, steer, stop, resume. */
import { z } from "zod";
import { checkProvider } from "../../agents/adopt/adopt.ts";
import type { Directory } from "../../agents/directory/directory.ts";
import { sessionsOf } from "../../agents/layout/place.ts";
import type { TmuxServers } from "../../agents/layout/servers.ts";
import type { Profiles } from "../../agents/profiles/profiles.ts";
import { enlist } from "../../agents/start/enlist.ts";
import type { Wishes } from "../../agents/start/launch.ts";
import type { AgentStarter } from "../../agents/start/starter.ts";
import { refreshStatus } from "../../agents/status/refreshStatus.ts";
import { kill, stop, type EndParts } from "../../agents/stop/end.ts";
import { choose, dialogOf, interrupt, type SteerParts } from "../../agents/stop/steer.ts";
import type { Teams } from "../../agents/teams.ts";
import type { Trust } from "../../agents/trust/trust.ts";
import type { HomeConfig } from "../../config/home.ts";
import type { Courier } from "../../delivery/courier.ts";
import type { ProbingTransport, Transport } from "../../delivery/transports/port.ts";
import type { Mailbox } from "../../mailbox/port.ts";
import { exitIn, isLive, userId, type Agent } from "../../model/agent.ts";
import { asTielineError, TielineError } from "../../model/errors.ts";
import type { Sender } from "../../model/message.ts";
import type { Processes } from "../../os/processes.ts";
import type { NativeTeams } from "../../providers/nativeTeams.ts";
import type { Providers } from "../../providers/providers.ts";
import type { RouterParts } from "../../routing/router.ts";
import { currentSession, hasSession } from "../../tmux/session.ts";
import { agentCalled, notRunning, paneOf, programCalled } from "../addressed.ts";
import type { Callers } from "../callers.ts";
import { operation } from "../operation.ts";
import { AgentView, type Caller } from "../schema.ts";
import { DialogView, NotStarted, oneAgent, wishes } from "../schemas/life.ts";
import { tmuxServerOf } from "../tmuxServerOf.ts";
import { agentView, notStarted, type ViewParts } from "../views.ts";
import { agentAddress, newAgentName } from "../schemas/fields.ts";

export interface LifeParts extends ViewParts, EndParts, SteerParts {
  readonly callers: Callers;
  readonly providers: Providers;
  readonly profiles: Profiles;
  readonly teams: Teams;
  readonly trust: Trust;
  readonly directory: Directory;
  readonly starter: AgentStarter;
  readonly courier: Courier;
  readonly servers: TmuxServers;
  readonly transports: ReadonlyMap<string, Transport>;
  readonly mailbox: Mailbox;
  readonly config: HomeConfig;
  readonly tmuxSocket: string;
  readonly resolve: RouterParts["resolve"];
  readonly tmux: ProbingTransport;
  readonly processes: Processes;
  readonly native: Pick<NativeTeams, "isNativeOnly" | "askToShutDown">;
}

export const lifeOperations = [
  operation({
    name: "spawn",
    summary: "Start an agent from a profile.",
    access: "spawn",
    input: z.object({
      profile: z.string().describe("the profile to start from"),
      name: newAgentName.optional().describe("the agent's name; default: the profile's"),
      resume: z.string().optional().describe("continue this conversation, by the program's own id"),
      ...wishes,
    }),
    output: AgentView,
    async run(parts: LifeParts, { profile: profileName, name, resume: sessionId, ...wishes }, { caller }) {
      const { callers, directory, starter } = parts;
      const from = await callers.allow(caller, "spawn");
      checkWishes(from, { ...wishes, resume: sessionId }, parts.providers);
      parts.profiles.mustFind(parts.teams.projectOf(from.team), profileName);
      const profile = parts.trust.profile(from.team, profileName)!;
      await Promise.all(
        directory.roster
          .inTeam(from.team)
          .filter((agent) => agent.name.startsWith(name ?? profileName))
          .map((one) => refreshStatus(one, parts)),
      );
      const cwd = wishes.cwd ?? (profile.cwd === null && from.id === userId ? caller.cwd : undefined);
      const enlisted = enlist({ profile, team: from.team, name, sessionId, wishes: { ...wishes, cwd } }, directory);
      const isNew = directory.agent(enlisted.id) === null;
      const agent = isNew && from.id !== userId ? { ...enlisted, startedBy: from.id } : enlisted;
      const conversation = sessionId === undefined ? "new" : "named";
      try {
        return view(parts, await starter.start(agent, { socket: tmuxServerOf(from, caller, parts), conversation }));
      } catch (thrown) {
        if (isNew && exitIn(asTielineError(thrown)) === null && isChanged({ ...wishes, sessionId }))
          forget(parts, agent);
        throw thrown;
      }
    },
  }),

  operation({
    name: "stop",
    summary: "Ask an agent's program to exit.",
    access: "kill",
    input: oneAgent,
    output: AgentView,
    async run(parts: LifeParts, { agent: address }, { caller }) {
      const { callers, native } = parts;
      const from = await callers.allow(caller, "kill");
      const agent = agentCalled(address, from, parts);
      if (native.isNativeOnly(agent)) return view(parts, await native.askToShutDown(agent, from));
      return ended(parts, await stop(programCalled(address, from, parts), parts));
    },
  }),

  operation({
    name: "kill",
    summary: "Close an agent's pane and everything that runs in it.",
    access: "kill",
    input: oneAgent,
    output: AgentView,
    async run(parts: LifeParts, { agent: address }, { caller }) {
      const { callers } = parts;
      const agent = programCalled(address, await callers.allow(caller, "kill"), parts);
      return ended(parts, await kill(agent, parts));
    },
  }),

  operation({
    name: "restart",
    summary: "Restart an agent.",
    access: "kill",
    input: oneAgent,
    output: AgentView,
    async run(parts: LifeParts, { agent: address }, { caller }) {
      const { callers, starter } = parts;
      const agent = programCalled(address, await callers.allow(caller, "kill"), parts);
      if (agent.launch === null) throw notStartedByUs(agent);
      // What could not be started again is not ended either.
      starter.profileOf(agent);
      return view(parts, await starter.start(await kill(agent, parts)));
    },
  }),

  operation({
    name: "resume",
    summary: "Start stopped agents again, with their conversations.",
    access: "spawn",
    input: z.object({ agents: z.array(agentAddress).optional().describe("names of agents; default: the whole team") }),
    output: z.object({ resumed: z.array(AgentView), already: z.array(z.string()), failed: z.array(NotStarted) }),
    async run(parts: LifeParts, { agents }, { caller }) {
      const { callers, directory } = parts;
      const from = await callers.allow(caller, "spawn");
      const meant =
        agents?.map((address) => programCalled(address, from, parts)) ??
        directory.roster.inTeam(parts.teams.mustExist(from.team)).filter((agent) => agent.launch !== null);
      await Promise.all(meant.map((agent) => refreshStatus(agent, parts)));
      const offline = meant.map((agent) => directory.agent(agent.id)!).filter((agent) => !isLive(agent));
      const results = await Promise.all(offline.map((agent) => resume(parts, agent)));
      return {
        resumed: results.flatMap((result) => ("started" in result ? [view(parts, result.started)] : [])),
        already: meant.filter((agent) => !offline.some(({ id }) => id === agent.id)).map((agent) => agent.name),
        failed: results.flatMap((result) => ("failed" in result ? [result.failed] : [])),
      };
    },
  }),

  operation({
    name: "interrupt",
    summary: "Interrupt an agent's running turn.",
    access: "kill",
    input: oneAgent,
    output: AgentView,
    async run(parts: LifeParts, { agent: address }, { caller }) {
      const { callers } = parts;
      const agent = programCalled(address, await callers.allow(caller, "kill"), parts);
      await interrupt(agent, parts);
      return view(parts, agent);
    },
  }),

  /** What the agent asks now. */
  operation({
    name: "dialog",
    summary: "Show an agent's open dialog.",
    access: "answer",
    input: oneAgent,
    output: DialogView,
    async run(parts: LifeParts, { agent: address }, { caller }) {
      const { callers } = parts;
      const agent = programCalled(address, await callers.sender(caller), parts);
      const { state, text, choices, mark } = await dialogOf(agent, parts);
      return {
        agent: agent.name,
        pane: paneOf(agent).locator.pane,
        state,
        text,
        choices: choices.map(({ place, label }) => ({ choice: place, label })),
        mark,
      };
    },
  }),

  operation({
    name: "choose",
    summary: "Answer an agent's open dialog.",
    access: "answer",
    input: oneAgent.extend({
      choice: z.string().describe("the number of the choice, its text, or the beginning of its text"),
      mark: z.string().describe("the `mark` of the dialog that was shown; another dialog is not answered"),
    }),
    output: z.object({ agent: z.string(), choice: z.number().int(), label: z.string() }),
    async run(parts: LifeParts, { agent: address, choice, mark }, { caller }) {
      const { callers, courier } = parts;
      const agent = programCalled(address, await callers.allow(caller, "answer"), parts);
      const { place, label } = await choose(agent, choice, mark, parts);
      courier.wake(agent.id);
      return { agent: agent.name, choice: place, label };
    },
  }),

  /** Where an agent, or the caller's team, is in tmux. */
  operation({
    name: "place",
    summary: "Show where an agent or a team is in tmux.",
    access: "everyone",
    input: z.object({ agent: agentAddress.optional().describe("an agent; default: the caller's team") }),
    output: z.object({
      socket: z.string(),
      session: z.string(),
      pane: z.string().nullable(),
      current: z.string().nullable().describe("the caller's own session, if it sits on that server"),
    }),
    async run(parts: LifeParts, { agent: address }, { caller }) {
      const { callers, directory, servers } = parts;
      const from = await callers.sender(caller);
      if (address === undefined) return teamPlace(parts, from.team, caller);
      const agent = programCalled(address, from, parts);
      const { locator } = paneOf(agent);
      await refreshStatus(agent, parts);
      if (!isLive(directory.agent(agent.id)!)) throw notRunning(directory.agent(agent.id)!);
      const session = await currentSession(servers.at(locator.socket), locator.pane);
      return {
        socket: locator.socket,
        session,
        pane: locator.pane,
        current: await sessionOfCaller(parts, caller, locator.socket),
      };
    },
  }),
] as const;

function view(parts: LifeParts, agent: Agent): AgentView {
  const { directory } = parts;
  return agentView(directory.agent(agent.id) ?? agent, parts);
}

function ended(parts: LifeParts, agent: Agent): AgentView {
  const { courier } = parts;
  courier.wake(agent.id);
  return view(parts, agent);
}

async function resume(parts: LifeParts, agent: Agent): Promise<{ started: Agent } | { failed: NotStarted }> {
  const { starter } = parts;
  try {
    if (agent.launch === null) throw notStartedByUs(agent);
    return { started: await starter.start(agent) };
  } catch (thrown) {
    return { failed: notStarted(agent.name, asTielineError(thrown)) };
  }
}

/** What was asked for once and never ran leaves nothing behind, unless mail came for it in the meantime. */
function forget(parts: LifeParts, agent: Agent): void {
  const { directory, mailbox } = parts;
  if (directory.agent(agent.id) !== null && mailbox.pending(agent.id) === 0) directory.remove(agent.id);
}

async function teamPlace(parts: LifeParts, team: string, caller: Caller) {
  const { directory, config, servers } = parts;
  const socket = serverOf(parts, caller);
  const sessions = sessionsOf(team, directory.roster.inTeam(team), config);
  for (const session of sessions) {
    if (await hasSession(servers.at(socket), session))
      return { socket, session, pane: null, current: await sessionOfCaller(parts, caller, socket) };
  }
  throw noSession(team, sessions[0] ?? null, socket);
}

async function sessionOfCaller(parts: LifeParts, { pane, tmuxSocket }: Caller, socket: string): Promise<string | null> {
  const { servers } = parts;
  return pane !== undefined && tmuxSocket === socket ? currentSession(servers.at(socket), pane) : null;
}

function serverOf(parts: LifeParts, caller: Caller): string {
  return caller.tmuxServer ?? parts.tmuxSocket;
}

/** Whether it was to differ from its profile. As declared, an agent that cannot start is listed with the reason. */
const isChanged = (wishes: object): boolean => Object.values(wishes).some((wish) => wish !== undefined);

/**
 * An agent starts a profile as it was written down, under a name and a task of its choice; only the user may give it
 * more.
 */
function checkWishes(
  from: Sender,
  wishes: Wishes & { readonly resume: string | undefined },
  providers: Providers,
): void {
  if (wishes.provider !== undefined) checkProvider(wishes.provider, providers);
  const { task: _, ...more } = wishes;
  const chosen = Object.entries(more).flatMap(([wish, value]) => (value === undefined ? [] : [wish]));
  if (from.id === userId || chosen.length === 0) return;
  throw new TielineError("NOT_PERMITTED", `${from.name} may start agents, but not choose their ${chosen.join(", ")}`, {
    remedy: "set it in the profile, ask the user to start it, or send the agent a message",
    operands: { agent: from.name, wishes: chosen },
  });
}

const notStartedByUs = (agent: Agent): TielineError =>
  new TielineError("CONFLICT", `${agent.name} was adopted, so Tieline does not know how it was started`, {
    remedy: "start its program yourself, then adopt it again under the same name",
    operands: { agent: agent.name },
  });

const noSession = (team: string, session: string | null, socket: string): TielineError =>
  new TielineError(
    "PANE_UNKNOWN",
    session === null
      ? `no agent of team ${team} has a tmux session at ${socket}`
      : `there is no tmux session ${session} at ${socket}`,
    {
      remedy: "`tieline up` or `tieline spawn` makes it; `tieline ls --all` shows the agents of every team",
      operands: { team, session, socket },
    },
  );
