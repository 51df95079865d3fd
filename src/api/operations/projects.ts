/** All agents of a project at once. */
import { z } from "zod";
import type { Directory } from "../../agents/directory/directory.ts";
import { leadFirst, sessionsOf, teamSession } from "../../agents/layout/place.ts";
import type { TmuxServers } from "../../agents/layout/servers.ts";
import type { Profiles } from "../../agents/profiles/profiles.ts";
import { agentOf } from "../../agents/start/enlist.ts";
import type { AgentStarter } from "../../agents/start/starter.ts";
import { refreshStatus } from "../../agents/status/refreshStatus.ts";
import { kill, type EndParts } from "../../agents/stop/end.ts";
import type { Teams } from "../../agents/teams.ts";
import type { Trust } from "../../agents/trust/trust.ts";
import type { HomeConfig } from "../../config/home.ts";
import type { Project } from "../../config/project.ts";
import type { Projects } from "../../config/projects.ts";
import { tmuxEndpoint } from "../../delivery/transports/paneEndpoint.ts";
import type { ProbingTransport } from "../../delivery/transports/port.ts";
import { endpointBy, isLive, type Agent } from "../../model/agent.ts";
import { asTielineError, TielineError } from "../../model/errors.ts";
import { didYouMean, nearNames } from "../../model/near.ts";
import type { Objects } from "../../objects/objects.ts";
import type { Lookups } from "../../routing/addresses/rules.ts";
import { checkEdges } from "../../routing/topology/check.ts";
import { hasSession } from "../../tmux/session.ts";
import type { Callers } from "../callers.ts";
import { operation } from "../operation.ts";
import { AgentView } from "../schema.ts";
import { NotStarted } from "../schemas/life.ts";
import { tmuxServerOf } from "../tmuxServerOf.ts";
import { agentView, notStarted, type ViewParts } from "../views.ts";
import { knownLabelsOf } from "./topology.ts";

export interface ProjectParts extends ViewParts, StopTeamParts {
  readonly callers: Callers;
  readonly directory: Directory;
  readonly servers: TmuxServers;
  readonly tmuxSocket: string;
  readonly tmux: ProbingTransport;
  readonly teams: Teams;
  readonly projects: Projects;
  readonly profiles: Profiles;
  readonly trust: Trust;
  readonly objects: Objects;
  readonly lookups: Lookups;
  readonly starter: AgentStarter;
  readonly config: HomeConfig;
}

export const projectOperations = [
  operation({
    name: "up",
    summary: "Start the agents of a project's tieline.yaml.",
    access: "spawn",
    input: z.object({ only: z.array(z.string()).optional().describe("names of agents; default: all of them") }),
    output: z.object({
      session: z.string(),
      socket: z.string(),
      attach: z.string(),
      started: z.array(AgentView),
      already: z.array(z.string()),
      failed: z.array(NotStarted),
    }),
    async run(parts: ProjectParts, { only }, { caller }) {
      const { callers, teams, config, servers, profiles, directory, starter } = parts;
      const from = await callers.allow(caller, "spawn");
      const { team } = from;
      const project = teams.projectOf(team);
      if (project === null) throw noProject(team, parts.projects.at(caller.cwd ?? "/"));
      parts.trust.demand(project.root);
      if (only === undefined) checkTopology(parts, team);
      parts.objects.startAll(team);
      const socket = tmuxServerOf(from, caller, parts);
      const isNew =
        config.session.naming === "window" && !(await hasSession(servers.at(socket), teamSession(team, config)));
      const names = only === undefined ? [...project.agents.keys()] : only.map((name) => declared(name, project));
      const wanted = (name: string): Agent => agentOf(profiles.lookup(project, name)!, name, team, directory);
      await Promise.all(
        names
          .map(wanted)
          .filter(isLive)
          .map((agent) => refreshStatus(agent, parts)),
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
      if (isNew) await showLead(parts, started, socket);
      return {
        session,
        socket,
        attach: `tmux -S ${socket} attach -t =${session}`,
        started: started.map((agent) => agentView(agent, parts)),
        already: running.map((agent) => agent.name),
        failed: failed.map(({ agent, error }) => notStarted(agent, error)),
      };
    },
  }),

  operation({
    name: "down",
    summary: "Stop the agents of a team that Tieline started.",
    access: "kill",
    input: z.object({}),
    output: z.object({ stopped: z.array(z.string()) }),
    async run(parts: ProjectParts, _, { caller }) {
      const { callers, teams } = parts;
      const { team } = await callers.allow(caller, "kill");
      teams.mustExist(team);
      return stopTeam(parts, team);
    },
  }),
] as const;

export interface StopTeamParts extends EndParts {
  readonly directory: Directory;
}

/** Kills the agents of a team that Tieline started. */
export async function stopTeam(parts: StopTeamParts, team: string): Promise<{ stopped: string[] }> {
  const own = parts.directory.roster.inTeam(team).filter((agent) => agent.launch !== null && isLive(agent));
  await Promise.all(own.map((agent) => kill(agent, parts)));
  return { stopped: own.map((agent) => agent.name) };
}

/** A session that was just made opens on the team's lead. */
async function showLead(parts: ProjectParts, started: readonly Agent[], socket: string): Promise<void> {
  const { directory, servers } = parts;
  const [lead] = leadFirst(started.filter((agent) => isLive(directory.agent(agent.id) ?? agent)));
  const endpoint = lead && endpointBy("tmux", lead);
  if (endpoint === undefined) return;
  try {
    await servers.at(socket).run([["select-window", "-t", tmuxEndpoint.locatorOf(endpoint).pane]]);
  } catch (thrown) {
    // It ended in the meantime, and its window with it.
    if (!["PANE_UNKNOWN", "TMUX_UNAVAILABLE"].includes(asTielineError(thrown).code)) throw thrown;
  }
}

/** A slip in an edge would show only when a message is refused. Another team may be started later than this one. */
function checkTopology(parts: ProjectParts, team: string): void {
  const { lookups } = parts;
  const [problem] = checkEdges(lookups.topology(team), knownLabelsOf(parts), team);
  if (problem) throw problem;
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
