/** From the first start of an agent to its last: spawn, adopt what is found, steer, stop, resume. */
import type { Caller } from "../schema.ts";
import type { NotStarted } from "../schemas/life.ts";
import type { Switch } from "../../compose/index.ts";
import { checkProvider, locatorOf } from "../../agents/adopt/adopt.ts";
import { discover } from "../../agents/adopt/discover.ts";
import { kill, stop } from "../../agents/stop/end.ts";
import { refreshStatus } from "../../agents/status/refreshStatus.ts";
import { enlist } from "../../agents/start/enlist.ts";
import type { Wishes } from "../../agents/start/launch.ts";
import { sessionsOf } from "../../agents/layout/place.ts";
import { choose, dialogOf, interrupt } from "../../agents/stop/steer.ts";
import { exitIn, isLive, userId, type Agent } from "../../model/agent.ts";
import { asTielineError, TielineError } from "../../model/errors.ts";
import type { Sender } from "../../model/message.ts";
import { currentSession, hasSession } from "../../tmux/session.ts";
import { endpointsInPane } from "../../delivery/transports/paneLocator.ts";
import { agentCalled, notRunning, paneOf, programCalled } from "../addressed.ts";
import type { Callers } from "../callers.ts";
import type { Operations } from "../../daemon/http.ts";
import { tmuxServerOf } from "../../daemon/tmuxServerOf.ts";
import { agentView, notStarted, endpointViews } from "../views.ts";

type LifeOperations = Pick<
  Operations,
  "spawn" | "stop" | "kill" | "restart" | "resume" | "interrupt" | "dialog" | "choose" | "discover" | "place"
>;

export function lifeOperations(tieline: Switch, callers: Callers): LifeOperations {
  const { directory, mailbox, courier, servers, starter, config } = tieline;
  const view = (agent: Agent) => agentView(directory.agent(agent.id) ?? agent, tieline);
  const known = (address: string, from: Sender): Agent => programCalled(address, from, tieline);
  const look = (agent: Agent): Promise<void> => refreshStatus(agent, tieline);

  return {
    async spawn({ profile: profileName, name, resume: sessionId, ...wishes }, { caller }) {
      const from = await callers.allow(caller, "spawn");
      checkWishes(from, { ...wishes, resume: sessionId }, tieline.providers);
      tieline.profiles.mustFind(tieline.teams.projectOf(from.team), profileName);
      const profile = tieline.trust.profile(from.team, profileName)!;
      await Promise.all(
        directory.roster
          .inTeam(from.team)
          .filter((agent) => agent.name.startsWith(name ?? profileName))
          .map(look),
      );
      const cwd = wishes.cwd ?? (profile.cwd === null && from.id === userId ? caller.cwd : undefined);
      const enlisted = enlist({ profile, team: from.team, name, sessionId, wishes: { ...wishes, cwd } }, directory);
      const isNew = directory.agent(enlisted.id) === null;
      const agent = isNew && from.id !== userId ? { ...enlisted, startedBy: from.id } : enlisted;
      const conversation = sessionId === undefined ? "new" : "named";
      try {
        return view(await starter.start(agent, { socket: tmuxServerOf(from, caller, tieline), conversation }));
      } catch (thrown) {
        if (isNew && exitIn(asTielineError(thrown)) === null && isChanged({ ...wishes, sessionId })) forget(agent);
        throw thrown;
      }
    },

    async stop({ agent: address }, { caller }) {
      const from = await callers.allow(caller, "kill");
      const { native } = tieline;
      const agent = agentCalled(address, from, tieline);
      if (native.isNativeOnly(agent)) return view(await native.askToShutDown(agent, from));
      return ended(await stop(known(address, from), tieline));
    },

    async kill({ agent: address }, { caller }) {
      const agent = known(address, await callers.allow(caller, "kill"));
      return ended(await kill(agent, tieline));
    },

    async restart({ agent: address }, { caller }) {
      const agent = known(address, await callers.allow(caller, "kill"));
      if (agent.launch === null) throw notStartedByUs(agent);
      // What could not be started again is not ended either.
      starter.profileOf(agent);
      return view(await starter.start(await kill(agent, tieline)));
    },

    async resume({ agents }, { caller }) {
      const from = await callers.allow(caller, "spawn");
      const meant =
        agents?.map((address) => known(address, from)) ??
        directory.roster.inTeam(tieline.teams.mustExist(from.team)).filter((agent) => agent.launch !== null);
      await Promise.all(meant.map(look));
      const offline = meant.map((agent) => directory.agent(agent.id)!).filter((agent) => !isLive(agent));
      const results = await Promise.all(offline.map((agent) => resume(agent)));
      return {
        resumed: results.flatMap((result) => ("started" in result ? [view(result.started)] : [])),
        already: meant.filter((agent) => !offline.some(({ id }) => id === agent.id)).map((agent) => agent.name),
        failed: results.flatMap((result) => ("failed" in result ? [result.failed] : [])),
      };
    },

    async interrupt({ agent: address }, { caller }) {
      const agent = known(address, await callers.allow(caller, "kill"));
      await interrupt(agent, tieline);
      return view(agent);
    },

    async dialog({ agent: address }, { caller }) {
      const agent = known(address, await callers.sender(caller));
      const { state, text, choices, mark } = await dialogOf(agent, tieline);
      return {
        agent: agent.name,
        pane: paneOf(agent).locator.pane,
        state,
        text,
        choices: choices.map(({ place, label }) => ({ choice: place, label })),
        mark,
      };
    },

    async choose({ agent: address, choice, mark }, { caller }) {
      const agent = known(address, await callers.allow(caller, "answer"));
      const { place, label } = await choose(agent, choice, mark, tieline);
      courier.wake(agent.id);
      return { agent: agent.name, choice: place, label };
    },

    async discover(_, { caller }) {
      const { team } = await callers.user(caller);
      const server = servers.at(serverOf(caller));
      const found = await discover(server, team, tieline);
      return found.map(({ pane, program, provider, foundBy, name, sessionId, agent }) => ({
        ...{ pane: pane.id, session: pane.sessionName, window: pane.windowName, cwd: pane.currentPath },
        ...{
          provider,
          program: program.command,
          pid: program.pid,
          name,
          sessionId,
          foundBy: [...foundBy],
          agent: agent && `${agent.team}:${agent.name}`,
        },
        endpoints: endpointViews(
          endpointsInPane(tieline.providers.of(provider), locatorOf(server, pane, program, {})),
          tieline.transports,
        ),
      }));
    },

    async place({ agent: address }, { caller }) {
      const from = await callers.sender(caller);
      if (address === undefined) return teamPlace(from.team, caller);
      const agent = known(address, from);
      const { locator } = paneOf(agent);
      await look(agent);
      if (!isLive(directory.agent(agent.id)!)) throw notRunning(directory.agent(agent.id)!);
      const session = await currentSession(servers.at(locator.socket), locator.pane);
      return {
        socket: locator.socket,
        session,
        pane: locator.pane,
        current: await sessionOfCaller(caller, locator.socket),
      };
    },
  };

  function ended(agent: Agent) {
    courier.wake(agent.id);
    return view(agent);
  }

  async function resume(agent: Agent): Promise<{ started: Agent } | { failed: NotStarted }> {
    try {
      if (agent.launch === null) throw notStartedByUs(agent);
      return { started: await starter.start(agent) };
    } catch (thrown) {
      return { failed: notStarted(agent.name, asTielineError(thrown)) };
    }
  }

  /** What was asked for once and never ran leaves nothing behind, unless mail came for it in the meantime. */
  function forget(agent: Agent): void {
    if (directory.agent(agent.id) !== null && mailbox.pending(agent.id) === 0) directory.remove(agent.id);
  }

  async function teamPlace(team: string, caller: Caller) {
    const socket = serverOf(caller);
    const sessions = sessionsOf(team, directory.roster.inTeam(team), config);
    for (const session of sessions) {
      if (await hasSession(servers.at(socket), session))
        return { socket, session, pane: null, current: await sessionOfCaller(caller, socket) };
    }
    throw noSession(team, sessions[0] ?? null, socket);
  }

  async function sessionOfCaller({ pane, tmuxSocket }: Caller, socket: string): Promise<string | null> {
    return pane !== undefined && tmuxSocket === socket ? currentSession(servers.at(socket), pane) : null;
  }

  function serverOf(caller: Caller): string {
    return caller.tmuxServer ?? tieline.tmuxSocket;
  }
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
  providers: Switch["providers"],
): void {
  if (wishes.provider !== undefined) checkProvider(wishes.provider, providers);
  const { task: _, ...more } = wishes;
  const chosen = Object.entries(more).flatMap(([wish, value]) => (value === undefined ? [] : [wish]));
  if (from.id === userId || chosen.length === 0) return;
  throw new TielineError("NOT_PERMITTED", `${from.name} may start agents, but not choose their ${chosen.join(", ")}`, {
    remedy: "write it into the profile, let the user start it, or tell the agent in a message what you want",
    operands: { agent: from.name, wishes: chosen },
  });
}

const notStartedByUs = (agent: Agent): TielineError =>
  new TielineError("CONFLICT", `${agent.name} was adopted, so Tieline does not know how it was started`, {
    remedy: "start its program by hand, then adopt it again under the same name",
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
