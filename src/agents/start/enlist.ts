import type { Directory } from "../directory/directory.ts";
import { isLive, type Agent, type LaunchData } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import type { Profile } from "../../model/profile.ts";
import { instanceName } from "../adopt/discover.ts";
import { launchData, type Wishes } from "./launch.ts";

export interface Enlistment {
  readonly profile: Profile;
  readonly team: string;
  /** Without it: the profile's name, and a number where that runs already. */
  readonly name?: string | undefined;
  /** The conversation to continue; without it a new one. */
  readonly sessionId?: string | undefined;
  readonly wishes: Wishes;
}

/** The agent that is to be started: one of that name that is offline, or a new one. */
export function enlist({ profile, team, name: wanted, sessionId, wishes }: Enlistment, directory: Directory): Agent {
  const holder = (name: string): Agent | null => directory.roster.named(team, name);
  const isTaken = (name: string): boolean => {
    const agent = holder(name);
    return agent !== null && (isLive(agent) || agent.profile !== profile.name);
  };
  const name = wanted ?? instanceName(profile.name, isTaken);
  const known = holder(name);
  if (known !== null && isLive(known)) throw runsAlready(known);
  const { role, may, workspace } = profile;
  const fields = {
    provider: wishes.provider ?? profile.provider,
    ...{ role, may, workspace, profile: profile.name },
    launch: launchData(profile, wishes),
    sessionId: sessionId ?? null,
  };
  return known === null
    ? directory.prepare({ name, team, ...fields, state: "gone" })
    : directory.update(known.id, fields);
}

/** The agent of a profile: the one that holds its name, or a new one that is offline until started. */
export function agentOf(profile: Profile, name: string, team: string, directory: Directory): Agent {
  const { provider, role, may, workspace } = profile;
  const known = directory.roster.named(team, name);
  const launch: LaunchData = { ...known?.launch, profile: profile.name };
  const change = { provider, role, may, workspace, profile: profile.name, launch };
  return known ? { ...known, ...change } : directory.prepare({ name, team, ...change, state: "gone" });
}

const runsAlready = (agent: Agent): TielineError =>
  new TielineError("CONFLICT", `${agent.team}:${agent.name} is already running`, {
    remedy: `choose another --name, leave it out for the next instance, or \`tieline restart ${agent.name}\``,
    operands: { agent: agent.name, team: agent.team },
  });
