/** Where agents live in tmux: which session and window, made when it is missing. */
import type { HomeConfig } from "../../config/home.ts";
import { defaultTeam } from "../../config/project.ts";
import { endpointBy, isLive, type Agent } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import {
  ensureSession,
  ensureWindow,
  exactSession,
  hasSession,
  newWindow,
  sessionName,
  type Launch,
  type PanePlace,
} from "../../tmux/session.ts";
import type { TmuxServer } from "../../tmux/server.ts";

type Settings = HomeConfig["session"];
type Resident = Pick<Agent, "id" | "name" | "team" | "role">;

/** With a session for each agent its name is part of the session's, so it must be readable there. */
const ownSessionName = /^[a-z][a-z0-9_]*$/;
const ownSessionInstance = /^[a-z][a-z0-9_]*-[a-z0-9]+$/;
const independent = /^ralph-[a-z0-9]+$/;

/** One session per team; the team `default` has the session that the configuration names. */
export function teamSession(team: string, { session }: Pick<HomeConfig, "session">): string {
  return sessionName(team === defaultTeam ? session.name : team);
}

/** The session in which an agent is started. */
export function sessionOf(agent: Resident, config: Pick<HomeConfig, "session">): string {
  if (config.session.naming === "window") return teamSession(agent.team, config);
  if (!ownSessionName.test(agent.name) && !ownSessionInstance.test(agent.name)) throw unfitName(agent.name);
  return independent.test(agent.name) ? `agent-${agent.name}` : `agent-${sessionName(agent.team)}-${agent.name}`;
}

/**
 * The sessions in which a team can be seen, the best first; with one for each agent, those of its agents, the lead's
 * first.
 */
export function sessionsOf(team: string, agents: readonly Agent[], config: Pick<HomeConfig, "session">): string[] {
  if (config.session.naming === "window") return [teamSession(team, config)];
  return leadFirst(
    agents.filter((agent) => agent.launch !== null && isLive(agent) && endpointBy("tmux", agent) !== undefined),
  ).map((agent) => sessionOf(agent, config));
}

/** Who has that role, or runs that profile, then who was there first. */
export const leadFirst = (agents: readonly Agent[]): Agent[] =>
  agents.toSorted((a, b) => Number(isLead(b)) - Number(isLead(a)) || a.createdAt - b.createdAt);

const isLead = ({ name, role, profile }: Agent): boolean =>
  [name, role, profile].some((word) => word === "lead" || word === "team-lead");

/** Starts a program where the agent belongs: in a window named by its task or role. */
export async function findPlace(
  server: TmuxServer,
  agent: Resident,
  task: string | undefined,
  launch: Launch,
  cwd: string | null,
  config: HomeConfig,
): Promise<PanePlace> {
  await server.version();
  const session = sessionOf(agent, config);
  const window = sessionName(task ?? agent.role ?? agent.name);
  if (config.session.naming === "session")
    return inOwnSession(server, agent, { ...launch, session, name: window }, config.session);
  // A new session has no client yet, and its first agent is worth more than an empty shell.
  const select = await ensureTeamSession(server, session, cwd, config.session);
  return newWindow(server, { ...launch, session, name: window, select });
}

/**
 * The team's session with its shell window, in that directory; without `autoCreate` it must be there already. Answers
 * whether it is new.
 */
async function ensureTeamSession(
  server: TmuxServer,
  session: string,
  cwd: string | null,
  { autoCreate, defaultWindow }: Settings,
): Promise<boolean> {
  if (!autoCreate) {
    if (!(await hasSession(server, session))) throw mayNotCreate(session, server);
    return false;
  }
  const shell = cwd === null ? {} : { cwd };
  const { created } = await ensureSession(server, { name: session, window: defaultWindow, ...shell });
  if (!created) await ensureWindow(server, session, { name: defaultWindow, ...shell });
  return created;
}

async function inOwnSession(
  server: TmuxServer,
  agent: Resident,
  place: Launch & { session: string; name: string },
  { autoCreate }: Settings,
): Promise<PanePlace> {
  const { session, name, ...launch } = place;
  if (!(await hasSession(server, session))) {
    if (!autoCreate) throw mayNotCreate(session, server);
    const made = await ensureSession(server, { name: session, window: name, ...launch });
    if (made.created) {
      await server.run([["set-option", "-t", exactSession(session), ownerOption, agent.id]]);
      return made.place;
    }
  }
  const [owner] = await server.read([["show-options", "-q", "-v", "-t", exactSession(session), ownerOption]]);
  if (owner !== agent.id) throw sessionTaken(session);
  return newWindow(server, place);
}

/** Kept on the session: its name alone does not say whose it is. */
const ownerOption = "@tieline_owner";

const unfitName = (name: string): TielineError =>
  new TielineError("NAME_INVALID", `${name} is not a valid session name`, {
    remedy:
      "with session.naming `session`, use lowercase letters, digits and _; an instance ends with - and " +
      "its number: ana, ana-2",
    operands: { name },
  });

const mayNotCreate = (session: string, server: TmuxServer): TielineError =>
  new TielineError("SPAWN_FAILED", `there is no tmux session ${session}, and session.autoCreate is off`, {
    remedy:
      `\`tmux -S ${server.socketPath} new-session -d -s ${session}\` creates it, or set session.autoCreate ` +
      "to true",
    operands: { session, socket: server.socketPath },
  });

const sessionTaken = (session: string): TielineError =>
  new TielineError("CONFLICT", `the tmux session ${session} already exists, and Tieline did not create it`, {
    remedy: "adopt the program there with `tieline adopt`, or choose another name",
    operands: { session },
  });
