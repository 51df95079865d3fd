/** The agents of this home: who they are, which files define them, who may write to whom. */
import { Directory } from "../agents/directory/directory.ts";
import { lookupsOver } from "../agents/directory/lookups.ts";
import { Profiles } from "../agents/profiles/profiles.ts";
import { teamsOver, type Teams } from "../agents/teams.ts";
import { Trust } from "../agents/trust/trust.ts";
import { Projects } from "../config/projects.ts";
import type { Agent } from "../model/agent.ts";
import type { AgentId } from "../model/ids.ts";
import type { Profile } from "../model/profile.ts";
import { NativeMembers } from "../providers/claude-code/teams/native/members.ts";
import { claudeInboxEndpoint } from "../providers/claude-code/transports/inbox/transport.ts";
import { reachableNames } from "../routing/addresses/reach.ts";
import type { Lookups } from "../routing/addresses/rules.ts";
import { routes } from "../routing/directoryRouting.ts";
import { loopGuard } from "../routing/loopGuard.ts";
import { createRouter, type Router } from "../routing/router.ts";
import type { Foundation } from "./options.ts";
import { providers } from "./providers.ts";
import type { Storage } from "./storage.ts";
import { readEndpointsWith } from "./endpoints.ts";

export interface Agents {
  readonly directory: Directory;
  readonly agentOf: (id: AgentId) => Agent | null;
  readonly projects: Projects;
  readonly profiles: Profiles;
  readonly teams: Teams;
  readonly trust: Trust;
  readonly native: NativeMembers;
  readonly lookups: Lookups;
  readonly ways: ReturnType<typeof routes>;
  readonly router: Router;
  /** The names that an agent may write to. */
  readonly reachable: (agent: Agent) => readonly string[];
  readonly profileOf: (agent: Agent) => Profile | null;
  /** Only a trusted file may say which files are read as an agent's output. */
  readonly loggedProfileOf: (agent: Agent) => Profile | null;
}

export interface AgentsParts extends Foundation, Pick<Storage, "mailbox" | "documents" | "events"> {
  readonly claudeConfig: string;
  /** There may be mail to deliver. */
  readonly wake: (agent: AgentId) => void;
}

export function agentsOf(parts: AgentsParts): Agents {
  const { options, config, clock, random, report, mailbox, documents, claudeConfig, wake } = parts;
  const { emit } = parts.events;
  const directory = new Directory(documents, emit, readEndpointsWith(report), clock, random);
  const projects = new Projects();
  const profiles = new Profiles(options.profilesDirectory);
  const teams = teamsOver(directory, projects, documents);
  const native = new NativeMembers({
    configDir: claudeConfig,
    home: mailbox.id,
    directory,
    mailbox,
    router: { send: (...sent) => router.send(...sent) },
    endpoint: claudeInboxEndpoint,
    rootsOf: () => teams.claims.roots(),
    isDeclared: (team, name) => lookups.profile(team, name)?.origin === "project",
    changed: wake,
  });
  const lookups = lookupsOver({
    roster: directory.roster,
    profiles,
    projectOf: teams.projectOf,
    overlayOf: teams.overlayOf,
    foundedTeams: teams.founded,
    nativeMembers: (asker, team, name) => native.find(asker, team, name),
    nativeNames: () => native.names(),
  });
  const profileOf = ({ team, profile }: Agent): Profile | null =>
    profile === null ? null : lookups.profile(team, profile);
  const trust = new Trust({
    providers,
    documents,
    profiles,
    projectOf: teams.projectOf,
    path: options.env["PATH"] ?? "",
    binDirectory: options.binDirectory,
    clock,
  });
  const ways = routes(directory, lookups, () => trust.profiles(), emit, native);
  const guard = loopGuard(mailbox, config.guards, clock);
  const router = createRouter({ mailbox, guard, emit, clock, random, ...ways });
  return {
    directory,
    agentOf: (id) => directory.agent(id),
    projects,
    profiles,
    teams,
    trust,
    native,
    lookups,
    ways,
    router,
    reachable: (agent) => reachableNames(agent, lookups),
    profileOf,
    loggedProfileOf(agent) {
      const seen = profileOf(agent);
      return seen === null || seen.project === null || seen.logs.length === 0
        ? seen
        : trust.profileIfTrusted(agent.team, seen.name);
    },
  };
}
