import { z } from "zod";
import type { Directory } from "../../agents/directory/directory.ts";
import { giveBackMail } from "../../agents/stop/giveBack.ts";
import type { Teams } from "../../agents/teams.ts";
import { defaultTeam } from "../../config/project.ts";
import type { Courier } from "../../delivery/courier.ts";
import type { Mailbox } from "../../mailbox/port.ts";
import { checkTeamName } from "../../model/address.ts";
import { isLive, userId, type Agent } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import type { Sender } from "../../model/message.ts";
import type { Lookups } from "../../routing/addresses/rules.ts";
import { agentCalled, type Resolving } from "../addressed.ts";
import type { Callers } from "../callers.ts";
import { operation } from "../operation.ts";
import type { Rights } from "../rights.ts";
import { membership, oneTeam, TeamView } from "../schemas/routing.ts";
import { stopTeam, type StopTeamParts } from "./projects.ts";

export interface TeamParts extends StopTeamParts, Resolving {
  readonly callers: Callers;
  readonly teams: Teams;
  readonly rights: Rights;
  readonly directory: Directory;
  readonly mailbox: Mailbox;
  readonly courier: Courier;
  readonly lookups: Lookups;
}

export const teamOperations = [
  operation({
    name: "teams",
    summary: "List the teams of this home.",
    access: "readable",
    input: z.object({}),
    output: z.array(TeamView),
    async run(parts: TeamParts, _, { caller }) {
      const { callers, teams, rights } = parts;
      const from = await callers.sender(caller);
      return teams
        .names()
        .map((team) => seen(parts, view(parts, team), from))
        .filter(({ name, members }) => rights.readsEverything(from) || name === from.team || members.length > 0);
    },
  }),

  operation({
    name: "team",
    summary: "Show a team: its members, edges and aliases.",
    access: "readable",
    input: oneTeam,
    output: TeamView,
    async run(parts: TeamParts, { team }, { caller }) {
      const { teams, callers } = parts;
      return seen(parts, view(parts, teams.mustExist(team)), await callers.sender(caller));
    },
  }),

  /** The team belongs to the project that its maker calls from, if there is one. */
  operation({
    name: "teamCreate",
    summary: "Create a team.",
    access: "spawn",
    input: oneTeam,
    output: TeamView,
    async run(parts: TeamParts, { team }, { caller }) {
      const { callers, teams } = parts;
      await callers.allow(caller, "spawn");
      teams.claims.found(checkTeamName(team), caller.cwd ?? "/");
      return view(parts, team);
    },
  }),

  operation({
    name: "teamJoin",
    summary: "Move an agent to a team.",
    access: "topology",
    input: membership,
    output: TeamView,
    async run(parts: TeamParts, { team, agent: address }, { caller }) {
      const { callers, teams } = parts;
      const from = await callers.allow(caller, "topology");
      teams.mustExist(team);
      return move(parts, member(parts, address, from, "join"), team);
    },
  }),

  operation({
    name: "teamLeave",
    summary: "Move an agent to the team `default`.",
    access: "topology",
    input: membership.partial(),
    output: TeamView,
    async run(parts: TeamParts, { team, agent: address }, { caller }) {
      const { directory, callers } = parts;
      const inTeam = team !== undefined && address !== undefined && directory.roster.named(team, address) !== null;
      const agent = member(
        parts,
        inTeam ? `${team}:${address}` : address,
        await callers.allow(caller, "topology"),
        "leave",
      );
      if (team !== undefined && agent.team !== team) throw notThere(agent, team);
      return move(parts, agent, defaultTeam);
    },
  }),

  operation({
    name: "teamRename",
    summary: "Rename a team.",
    access: "topology",
    input: oneTeam.extend({ name: z.string().describe("the new name") }),
    output: TeamView,
    async run(parts: TeamParts, { team, name }, { caller }) {
      const { callers, teams, directory } = parts;
      await callers.allow(caller, "topology");
      teams.mustExist(team);
      checkFree(parts, team, checkTeamName(name));
      for (const agent of directory.roster.inTeam(team)) directory.update(agent.id, { team: name });
      teams.rename(team, name);
      return view(parts, name);
    },
  }),

  operation({
    name: "teamDisband",
    summary: "Remove a team and its agents.",
    access: "kill",
    input: oneTeam.extend({
      force: z.boolean().optional().describe("even if mail is queued or agents run; the mail bounces"),
    }),
    output: z.object({ name: z.string(), removed: z.array(z.string()), failedDeliveries: z.number().int() }),
    async run(parts: TeamParts, { team, force = false }, { caller }) {
      const { callers, directory, teams, mailbox, courier } = parts;
      await callers.allow(caller, "kill");
      const members = directory.roster.inTeam(teams.mustExist(team)).filter((agent) => agent.kind === "program");
      const pending = members.reduce((sum, agent) => sum + mailbox.pending(agent.id), 0);
      if (pending > 0 && !force) throw hasMail(team, pending);
      const running = members.filter((agent) => agent.launch !== null && isLive(agent));
      if (running.length > 0 && !force) throw isRunning(team, running);
      for (const agent of members) {
        await giveBackMail(mailbox, agent.id, `team ${team} was disbanded`);
        directory.remove(agent.id);
        courier.wake(agent.id);
      }
      teams.remove(team);
      return { name: team, removed: members.map((agent) => agent.name), failedDeliveries: pending };
    },
  }),

  operation({
    name: "teamShutdown",
    summary: "Stop every agent of a team that Tieline started.",
    access: "kill",
    input: oneTeam,
    output: z.object({ stopped: z.array(z.string()) }),
    async run(parts: TeamParts, { team }, { caller }) {
      const { callers, teams } = parts;
      const from = await callers.allow(caller, "kill");
      if (from.id !== userId && from.team !== team) throw otherTeam(from, team);
      return stopTeam(parts, teams.mustExist(team));
    },
  }),
] as const;

function view(parts: TeamParts, team: string): TeamView {
  const { directory, mailbox, lookups, teams } = parts;
  const members = directory.roster.inTeam(team).map((agent) => {
    const { name, role, kind, state, stateReason: reason } = agent;
    return { name, role, kind, state, reason, pending: mailbox.pending(agent.id) };
  });
  const { root = null, createdAt = null } = directory.team(team) ?? {};
  return {
    name: team,
    root,
    createdAt,
    members,
    pending: members.reduce((sum, one) => sum + one.pending, 0),
    edges: lookups.topology(team).edges?.length ?? null,
    aliases: Object.fromEntries([...(teams.projectOf(team)?.aliases ?? [])].map(([alias, of]) => [alias, [...of]])),
  };
}

/** The members whom the caller sees; of those whom it may not read, only what they do. */
function seen(parts: TeamParts, team: TeamView, from: Sender): TeamView {
  const { rights, directory } = parts;
  if (rights.readsEverything(from)) return team;
  const members = team.members.flatMap((member) => {
    const agent = directory.roster.named(team.name, member.name);
    if (agent === null || !rights.sees(from, agent)) return [];
    return [rights.reads(from, agent.id) ? member : { ...member, reason: null, pending: 0 }];
  });
  return { ...team, members, pending: members.reduce((sum, one) => sum + one.pending, 0) };
}

/**
 * Another team has other edges, so moving needs the right to change them; then an agent moves itself, the user
 * any agent.
 */
function member(parts: TeamParts, address: string | undefined, from: Sender, verb: string): Agent {
  const { directory } = parts;
  const agent = address === undefined ? directory.agent(from.id) : agentCalled(address, from, parts);
  if (agent === null || agent.kind !== "program") throw whoMoves(verb);
  if (directory.agent(agent.id) === null) throw neverStarted(agent);
  if (from.id === userId || from.id === agent.id) return agent;
  throw new TielineError("NOT_PERMITTED", `${from.name} cannot make ${agent.name} ${verb} a team`, {
    remedy: "the user can, and each agent for itself",
    operands: { sender: from.name, agent: agent.name },
  });
}

function move(parts: TeamParts, agent: Agent, team: string): TeamView {
  const { directory } = parts;
  const holder = directory.roster.named(team, agent.name);
  if (holder && holder.id !== agent.id) throw nameTaken(agent, team);
  directory.update(agent.id, { team });
  return view(parts, team);
}

/** A name that a project's file gives its team comes back with the next call from there. */
function checkFree(parts: TeamParts, team: string, name: string): void {
  const { teams, directory } = parts;
  const project = teams.projectOf(team);
  if (project?.isTeamStated && directory.team(team)?.fileTeam === team) throw namedByFile(team, name, project.file);
  const other = directory.team(name);
  const taken =
    directory.roster.inTeam(name).length > 0 ||
    (other && other.root !== null && other.root !== directory.team(team)?.root);
  if (taken) throw teamExists(name, other?.root ?? null);
}

const neverStarted = ({ name }: Agent): TielineError =>
  new TielineError("CONFLICT", `${name} was never started, so it is in no team yet`, {
    remedy: `\`tieline spawn ${name} --team TEAM\` starts it in one`,
    operands: { agent: name },
  });

const whoMoves = (verb: string): TielineError =>
  new TielineError("USAGE", `only agents ${verb} teams`, {
    remedy: `name the agent: \`tieline team ${verb} TEAM AGENT\``,
  });

const notThere = (agent: Agent, team: string): TielineError =>
  new TielineError("CONFLICT", `${agent.name} is in team ${agent.team}, not in ${team}`, {
    remedy: "`tieline team ls` lists the teams",
    operands: { agent: agent.name, team },
  });

const nameTaken = (agent: Agent, team: string): TielineError =>
  new TielineError("CONFLICT", `team ${team} already has an agent named ${agent.name}`, {
    remedy: "names are unique in a team; remove or rename one of the two first",
    operands: { team, name: agent.name },
  });

const namedByFile = (team: string, name: string, file: string): TielineError =>
  new TielineError("CONFLICT", `${file} names its team ${team}`, {
    remedy: `write \`team: ${name}\` there first; Tieline never changes the file`,
    operands: { team, file },
  });

const teamExists = (name: string, root: string | null): TielineError =>
  new TielineError("CONFLICT", `team ${name} already exists${root === null ? "" : `, which belongs to ${root}`}`, {
    remedy: "choose another name, or disband the other team first",
    operands: { team: name, root },
  });

const hasMail = (team: string, pending: number): TielineError =>
  new TielineError("CONFLICT", `${pending} messages for team ${team} are not delivered yet`, {
    remedy: `see \`tieline team show ${team}\`; with --force they bounce`,
    operands: { team, pending },
  });

const isRunning = (team: string, running: readonly Agent[]): TielineError =>
  new TielineError(
    "CONFLICT",
    `${running.map(({ name }) => name).join(", ")} of team ${team} still ${running.length === 1 ? "runs" : "run"}`,
    {
      remedy:
        `\`tieline team shutdown ${team}\` stops them; with --force they keep running, and Tieline forgets ` + "them",
      operands: { team, running: running.map(({ name }) => name) },
    },
  );

const otherTeam = (from: Sender, team: string): TielineError =>
  new TielineError("NOT_PERMITTED", `${from.name} is in team ${from.team} and cannot stop team ${team}`, {
    remedy: "the user can",
    operands: { sender: from.name, team },
  });
