import type { Switch } from "../../compose/index.ts";
import type { Project } from "../../config/project.ts";
import { adopt } from "../../agents/adopt/adopt.ts";
import { giveBackMail } from "../../agents/stop/giveBack.ts";
import { kill } from "../../agents/stop/end.ts";
import { refreshStatus } from "../../agents/status/refreshStatus.ts";
import { leadFirst, sessionsOf, teamSession } from "../../agents/layout/place.ts";
import { agentOf } from "../../agents/start/enlist.ts";
import { checkName, endpointBy, isLive, userId, type Agent } from "../../model/agent.ts";
import { asTielineError, TielineError } from "../../model/errors.ts";
import { didYouMean, nearNames } from "../../model/near.ts";
import { hasSession } from "../../tmux/session.ts";
import { checkEdges } from "../../routing/topology/check.ts";
import { agentCalled, neverStarted } from "../addressed.ts";
import type { Callers } from "../callers.ts";
import type { Operations } from "../../daemon/http.ts";
import type { Rights } from "../rights.ts";
import { paneLocator } from "../../delivery/transports/paneLocator.ts";
import { tmuxServerOf } from "../../daemon/tmuxServerOf.ts";
import { agentView, notStarted, withoutDetails } from "../views.ts";
import { knownLabelsOf } from "./topology.ts";

const asLastSeen = "as last seen; its tmux server does not answer";

type AgentOperations = Pick<Operations, "ls" | "adopt" | "rm" | "up" | "down">;

export function agentOperations(tieline: Switch, callers: Callers, rights: Rights): AgentOperations {
  const { mailbox, directory, statusMonitor, courier, servers, starter, teams, profiles, lookups, config } = tieline;

  return {
    async ls({ all = false }, { caller }) {
      const from = await callers.sender(caller);
      const isInTeam = (agent: Agent): boolean =>
        agent.team === from.team || tieline.native.homeOfAgent(agent) === from.team;
      const wanted = (): readonly Agent[] =>
        directory.agents().filter((agent) => (all || isInTeam(agent)) && rights.sees(from, agent));
      const { unread, unanswered } = await statusMonitor.refresh(wanted());
      return wanted().map((agent) => {
        const view = agentView(agent, tieline);
        if (!rights.reads(from, agent.id)) return withoutDetails(view);
        if (unanswered.has(agent.id))
          return { ...view, reason: asLastSeen, ...(view.held !== null && { held: asLastSeen }) };
        return unread.has(agent.id)
          ? { ...view, reason: view.reason ?? "as last seen; its screen is being read now" }
          : view;
      });
    },

    async adopt({ target, name, provider, workspace, role }, { caller }) {
      if (role !== undefined) checkName(role, "role");
      const { team } = await callers.user(caller);
      const server = servers.at(caller.tmuxServer ?? tieline.tmuxSocket);
      const agent = await adopt(server, { target, name, team, provider, workspace, role }, tieline);
      await refreshStatus(agent, tieline);
      courier.wake(agent.id);
      return agentView(directory.agent(agent.id)!, tieline);
    },

    async rm({ agent: address, force = false }, { caller }) {
      const from = await callers.allow(caller, "kill");
      const agent = agentCalled(address, from, tieline);
      if (agent.kind !== "program") throw cannotRemove(agent);
      if (directory.agent(agent.id) === null) throw neverStarted(agent);
      const pending = mailbox.pending(agent.id);
      if (pending > 0 && !force) throw hasMail(agent, pending);
      await giveBackMail(mailbox, agent.id, `${agent.name} was removed`);
      directory.remove(agent.id);
      courier.wake(agent.id);
      return { name: agent.name, failedDeliveries: pending };
    },

    async up({ only }, { caller }) {
      const from = await callers.allow(caller, "spawn");
      const { team } = from;
      const project = teams.projectOf(team);
      if (project === null) throw noProject(team, tieline.projects.at(caller.cwd ?? "/"));
      tieline.trust.demand(project.root);
      if (only === undefined) checkTopology(team);
      tieline.objects.startAll(team);
      const socket = tmuxServerOf(from, caller, tieline);
      const isNew =
        config.session.naming === "window" && !(await hasSession(servers.at(socket), teamSession(team, config)));
      const names = only === undefined ? [...project.agents.keys()] : only.map((name) => declared(name, project));
      const wanted = (name: string): Agent => agentOf(profiles.lookup(project, name)!, name, team, directory);
      await Promise.all(
        names
          .map(wanted)
          .filter(isLive)
          .map((agent) => refreshStatus(agent, tieline)),
      );
      const started: Agent[] = [];
      const running: Agent[] = [];
      const failed: { agent: string; error: TielineError }[] = [];
      for (const name of names) {
        // Looked up one by one: those before it may have written to it already, and started it so.
        const agent = wanted(name);
        if (isLive(agent)) {
          running.push(agent);
          continue;
        }
        try {
          started.push(await starter.start(agent, { socket }));
        } catch (thrown) {
          failed.push({ agent: name, error: asTielineError(thrown) });
        }
      }
      if (failed.length > 0 && failed.length === names.length) throw failed[0]!.error;
      const [session = teamSession(team, config)] = sessionsOf(team, directory.roster.inTeam(team), config);
      if (isNew) await showLead(started, socket);
      return {
        session,
        socket,
        attach: `tmux -S ${socket} attach -t =${session}`,
        started: started.map((agent) => agentView(agent, tieline)),
        already: running.map((agent) => agent.name),
        failed: failed.map(({ agent, error }) => notStarted(agent, error)),
      };
    },

    async down(_, { caller }) {
      const { team } = await callers.allow(caller, "kill");
      teams.mustExist(team);
      const own = directory.roster.inTeam(team).filter((agent) => agent.launch !== null && isLive(agent));
      await Promise.all(own.map((agent) => kill(agent, tieline)));
      return { stopped: own.map((agent) => agent.name) };
    },
  };

  /** A session that was just made opens on the team's lead. */
  async function showLead(started: readonly Agent[], socket: string): Promise<void> {
    const [lead] = leadFirst(started.filter((agent) => isLive(directory.agent(agent.id) ?? agent)));
    const endpoint = lead && endpointBy("tmux", lead);
    if (endpoint === undefined) return;
    try {
      await servers.at(socket).run([["select-window", "-t", paneLocator(endpoint).pane]]);
    } catch (thrown) {
      // It ended in the meantime, and its window with it.
      if (!["PANE_UNKNOWN", "TMUX_UNAVAILABLE"].includes(asTielineError(thrown).code)) throw thrown;
    }
  }

  /** A slip in an edge would show only when a message is refused. Another team may be started later than this one. */
  function checkTopology(team: string): void {
    const [problem] = checkEdges(lookups.topology(team), knownLabelsOf(tieline), team);
    if (problem) throw problem;
  }
}

const hasMail = (agent: Agent, pending: number): TielineError =>
  new TielineError(
    "CONFLICT",
    `${pending === 1 ? "a message" : `${pending} messages`} for ${agent.name} ` +
      `${pending === 1 ? "is" : "are"} not delivered yet`,
    {
      remedy: `see \`tieline inbox ${agent.name} --pending\`; with --force they bounce`,
      operands: { agent: agent.name, pending },
    },
  );

function cannotRemove({ id, name }: Agent): TielineError {
  const isUser = id === userId;
  return new TielineError("CONFLICT", `${isUser ? "the user" : `the object ${name}`} cannot be removed`, {
    remedy: isUser ? "`tieline ls` lists the agents" : "objects are removed from tieline.yaml",
    operands: { agent: name },
  });
}

function declared(name: string, { agents }: Pick<Project, "agents">): string {
  if (agents.has(name)) return name;
  const known = [...agents.keys()];
  throw new TielineError(
    "ADDRESS_UNKNOWN",
    `there is no agent "${name}" in tieline.yaml${didYouMean(nearNames(name, known))}`,
    {
      remedy: known.length === 0 ? "add it under agents:" : `it names ${known.join(", ")}`,
      operands: { agent: name, known },
    },
  );
}

function noProject(team: string, here: Project | null): TielineError {
  const operands = { team, missing: "tieline.yaml" };
  if (here === null)
    return new TielineError("CONFIG_INVALID", "there is no tieline.yaml here or above", {
      remedy: "`tieline init` writes one",
      operands,
    });
  return new TielineError("CONFIG_INVALID", `${here.file} is of team ${here.team}, and team ${team} has none`, {
    remedy: `leave out --team and TIELINE_TEAM to start team ${here.team}`,
    operands,
  });
}
