import type { TeamView } from "../schemas/routing.ts";
import type { Switch } from "../../compose/index.ts";
import { defaultTeam } from "../../config/project.ts";
import { giveBackMail } from "../../agents/stop/giveBack.ts";
import { isLive, userId, type Agent } from "../../model/agent.ts";
import { checkTeamName } from "../../model/address.ts";
import { TielineError } from "../../model/errors.ts";
import type { Sender } from "../../model/message.ts";
import { agentCalled } from "../addressed.ts";
import type { Callers } from "../callers.ts";
import type { Operations } from "../../daemon/http.ts";
import type { Rights } from "../rights.ts";

type TeamOperations = Pick<
  Operations,
  "teams" | "team" | "teamCreate" | "teamJoin" | "teamLeave" | "teamRename" | "teamDisband" | "teamShutdown"
>;

export function teamOperations(
  tieline: Switch,
  callers: Callers,
  rights: Rights,
  down: Operations["down"],
): TeamOperations {
  const { directory, teams, lookups, mailbox, courier } = tieline;

  return {
    async teams(_, { caller }) {
      const from = await callers.sender(caller);
      return teams
        .names()
        .map((team) => seen(view(team), from))
        .filter(({ name, members }) => rights.readsEverything(from) || name === from.team || members.length > 0);
    },

    async team({ team }, { caller }) {
      return seen(view(teams.mustExist(team)), await callers.sender(caller));
    },

    /** The team belongs to the project that its maker calls from, if there is one. */
    async teamCreate({ team }, { caller }) {
      await callers.allow(caller, "spawn");
      teams.claims.found(checkTeamName(team), caller.cwd ?? "/");
      return view(team);
    },

    async teamJoin({ team, agent: address }, { caller }) {
      const from = await callers.allow(caller, "topology");
      teams.mustExist(team);
      return move(member(address, from, "join"), team);
    },

    async teamLeave({ team, agent: address }, { caller }) {
      const inTeam = team !== undefined && address !== undefined && directory.roster.named(team, address) !== null;
      const agent = member(inTeam ? `${team}:${address}` : address, await callers.allow(caller, "topology"), "leave");
      if (team !== undefined && agent.team !== team) throw notThere(agent, team);
      return move(agent, defaultTeam);
    },

    async teamRename({ team, name }, { caller }) {
      await callers.allow(caller, "topology");
      teams.mustExist(team);
      checkFree(team, checkTeamName(name));
      for (const agent of directory.roster.inTeam(team)) directory.update(agent.id, { team: name });
      teams.rename(team, name);
      return view(name);
    },

    async teamDisband({ team, force = false }, { caller }) {
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

    async teamShutdown({ team }, call) {
      const from = await callers.allow(call.caller, "kill");
      if (from.id !== userId && from.team !== team) throw otherTeam(from, team);
      return down({}, { ...call, caller: { ...call.caller, team: teams.mustExist(team) } });
    },
  };

  function view(team: string): TeamView {
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
  function seen(team: TeamView, from: Sender): TeamView {
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
  function member(address: string | undefined, from: Sender, verb: string): Agent {
    const agent = address === undefined ? directory.agent(from.id) : agentCalled(address, from, tieline);
    if (agent === null || agent.kind !== "program") throw whoMoves(verb);
    if (directory.agent(agent.id) === null) throw neverStarted(agent);
    if (from.id === userId || from.id === agent.id) return agent;
    throw new TielineError("NOT_PERMITTED", `${from.name} cannot make ${agent.name} ${verb} a team`, {
      remedy: "the user can, and each agent for itself",
      operands: { sender: from.name, agent: agent.name },
    });
  }

  function move(agent: Agent, team: string): TeamView {
    const holder = directory.roster.named(team, agent.name);
    if (holder && holder.id !== agent.id) throw nameTaken(agent, team);
    directory.update(agent.id, { team });
    return view(team);
  }

  /** A name that a project's file gives its team comes back with the next call from there. */
  function checkFree(team: string, name: string): void {
    const project = teams.projectOf(team);
    if (project?.isTeamStated && directory.team(team)?.fileTeam === team) throw namedByFile(team, name, project.file);
    const other = directory.team(name);
    const taken =
      directory.roster.inTeam(name).length > 0 ||
      (other && other.root !== null && other.root !== directory.team(team)?.root);
    if (taken) throw teamExists(name, other?.root ?? null);
  }
}

const neverStarted = ({ name }: Agent): TielineError =>
  new TielineError("CONFLICT", `${name} was never started, so it is in no team yet`, {
    remedy: `\`tieline spawn ${name} --team TEAM\` starts it in one`,
    operands: { agent: name },
  });

const whoMoves = (verb: string): TielineError =>
  new TielineError("USAGE", `agents ${verb} teams, and you are not one`, {
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
  new TielineError("CONFLICT", `there is a team ${name} already${root === null ? "" : `, which belongs to ${root}`}`, {
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
      remedy: `\`tieline team shutdown ${team}\` stops them; with --force they run on, unknown to Tieline`,
      operands: { team, running: running.map(({ name }) => name) },
    },
  );

const otherTeam = (from: Sender, team: string): TielineError =>
  new TielineError("NOT_PERMITTED", `${from.name} is in team ${from.team} and cannot stop team ${team}`, {
    remedy: "the user can",
    operands: { sender: from.name, team },
  });
