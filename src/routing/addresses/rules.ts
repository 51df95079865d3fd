import { type Agent, canStart, isLive, userName, systemObjects } from "../../model/agent.ts";
import type { Address } from "../../model/address.ts";
import type { Profile } from "../../model/profile.ts";
import type { Party, Topology } from "../topology/topology.ts";
import type { Roster } from "./roster.ts";

/** What resolving looks things up in. Everything is read, nothing is changed. */
export interface Lookups {
  readonly roster: Roster;
  /** The profile of that name as the team's project sees it: project, then user, then built in. */
  profile(team: string, name: string): Profile | null;
  /** All names that `profile` would find. */
  profileNames(team: string): Iterable<string>;
  topology(team: string): Topology;
  /** The addresses behind `@name`; null: the team has no such alias. */
  alias(team: string, name: string): readonly string[] | null;
  aliasNames(team: string): Iterable<string>;
  /** Teams that exist even without agents: of a project, made by hand, or `default`. */
  foundedTeams?(): Iterable<string>;
  /** Members of Claude Code teams that we did not start, and whether they belong to the sender's own team. */
  nativeMembers?(
    asker: Asker,
    team: string,
    name: string,
  ): { readonly agents: readonly Agent[]; readonly own: boolean };
  /** The names for which there may be one. */
  nativeNames?(): Iterable<string>;
}

/** Who asks: names are looked up in the sender's team, and labels never mean the sender itself. */
export type Asker = Party;

/** No agent yet, but a profile from which mail may start one of that name. */
export interface Startable {
  readonly team: string;
  readonly name: string;
  readonly profile: Profile;
}

/** What one rule found. Two hits are ambiguous, none is a miss; `why` is for people. */
export interface Finding {
  readonly hits: readonly Agent[];
  readonly startable?: Startable;
  readonly why: string;
}

export type SingleAddress = Extract<Address, { kind: "name" | "pane" }>;

export interface Rule {
  readonly name: "user" | "object" | "pane" | "profile" | "live" | "offline" | "native";
  readonly says: string;
  /** null: this rule is not for such an address. */
  find(address: SingleAddress, asker: Asker, lookups: Lookups): Finding | null;
}

/** First hit wins. The order is the whole of the policy; exact matches only. */
export const rules: readonly Rule[] = [
  { name: "user", says: "`user` is the user", find: findUser },
  { name: "object", says: "metrics, tick and gateway are system objects", find: findSystemObject },
  { name: "pane", says: "the live agent in a tmux pane", find: findPane },
  { name: "profile", says: "the live agent of a profile, in the sender's team", find: forNames(findByProfile) },
  { name: "live", says: "a live agent by id, then by name, then by role", find: forNames(findLive) },
  { name: "offline", says: "an offline agent by name, or one that mail may start", find: forNames(findOffline) },
  { name: "native", says: "a member of a Claude Code team on this machine", find: forNames(findNative) },
];

type NameQuery = { readonly team: string; readonly name: string; readonly asker: Asker };

function findUser(address: SingleAddress, _: Asker, { roster }: Lookups): Finding | null {
  if (address.kind !== "name" || address.name !== userName) return null;
  return { hits: [roster.user], why: "the user" };
}

function findSystemObject(address: SingleAddress, asker: Asker, { roster }: Lookups): Finding | null {
  if (address.kind !== "name" || !isSystemObjectName(address.name)) return null;
  const team = address.team ?? asker.team;
  const object = roster.named(team, address.name);
  if (object) return { hits: [object], why: `the ${address.name} object of team ${team}` };
  return miss(`team ${team} has no handler for ${address.name}`);
}

function findPane(address: SingleAddress, _: Asker, { roster }: Lookups): Finding | null {
  if (address.kind !== "pane") return null;
  const hits = roster.byPane(address.pane).filter(isLive);
  return hits.length > 0
    ? { hits, why: `it lives in ${address.pane}` }
    : miss(`no live agent is in pane ${address.pane}`);
}

/** Another team's profiles are not the sender's to name; its agents are. */
function findByProfile({ team, name, asker }: NameQuery, lookups: Lookups): Finding | null {
  if (team !== asker.team) return null;
  const { roster } = lookups;
  const found = lookups.profile(team, name);
  if (!found) return miss(`no profile ${name} in the project, the user's directory or built in`);
  const holder = roster.named(team, name);
  if (holder && !isLive(holder)) return miss(`${name} is ${holder.state}`);
  if (holder) return hit(holder, `a ${found.origin} profile, and its live agent`);
  const started = othersOf(roster.ofProfile(team, name), asker);
  const hits = started.filter((agent) => isLive(agent) && !isInstance(agent, name));
  if (hits.length > 0) return { hits, why: `started from the ${found.origin} profile ${name}` };
  return miss(`the ${found.origin} profile ${name} has no live agent`);
}

function findLive({ team, name, asker }: NameQuery, { roster }: Lookups): Finding {
  const exact = byIdOrName(roster, team, name, asker);
  if (exact && !isLive(exact)) return miss(`${exact.name} is ${exact.state}`);
  if (exact) return hit(exact, exact.id === name ? "its id" : "its name");
  const hits = othersOf(roster.withRole(team, name), asker).filter(isLive);
  if (hits.length > 0) return { hits, why: `role ${name}` };
  return miss(`no live agent in team ${team} has this id, name or role`);
}

/**
 * A name that an agent holds means that agent, whether or not it can be started: its mail waits. Labels find only
 * what can be started, and an earlier agent of a profile is resumed before a new one is made.
 */
function findOffline({ team, name, asker }: NameQuery, lookups: Lookups): Finding {
  const { roster } = lookups;
  const exact = byIdOrName(roster, team, name, asker);
  if (exact)
    return hit(exact, `${exact.state}; mail ${canStart(exact) ? "starts it again" : "waits until it is back"}`);
  const earlier = roster.ofProfile(team, name).filter((agent) => canStart(agent) && !isInstance(agent, name));
  if (earlier.length > 0) return { hits: earlier, why: `offline, started from profile ${name}` };
  const startable = startableIn(team, name, asker, lookups);
  if (startable?.profile.origin === "built in" && runsNatively(team, name, asker, lookups))
    return miss(`a member of a Claude Code team of ${team} is called ${name}, and runs`);
  if (startable) return { hits: [], startable, why: `mail may start the ${startable.profile.origin} profile ${name}` };
  const holders = roster.withRole(team, name).filter(canStart);
  if (holders.length > 0) return { hits: holders, why: `offline, role ${name}` };
  return miss("nothing of this name can be started");
}

/** Several of one name in different Claude Code teams are as ambiguous as several of one role. */
function findNative({ team, name, asker }: NameQuery, lookups: Lookups): Finding {
  const hits = lookups.nativeMembers?.(asker, team, name).agents ?? [];
  return hits.length > 0 ? { hits, why: "its native inbox" } : miss(`no Claude Code team has a member ${name}`);
}

/** What comes with Tieline is a default; a teammate who is there is meant before it. */
function runsNatively(team: string, name: string, asker: Asker, lookups: Lookups): boolean {
  const { agents = [], own = false } = lookups.nativeMembers?.(asker, team, name) ?? {};
  return own && agents.some(isLive);
}

/** In another team only what its own project declares: a misspelt team must not come to life. */
export function startableIn(team: string, name: string, asker: Asker, lookups: Lookups): Startable | null {
  const found = lookups.profile(team, name);
  if (!found?.autostart) return null;
  if (team !== asker.team && found.origin !== "project") return null;
  return { team, name, profile: found };
}

export const isSystemObjectName = (name: string): boolean => (systemObjects as readonly string[]).includes(name);

/** An id is unique on the host, so it needs no team; with one, it must be that one. */
function byIdOrName(roster: Roster, team: string, name: string, asker: Asker): Agent | null {
  const identified = roster.byId(name);
  if (identified && identified.kind !== "user" && (team === asker.team || identified.team === team)) return identified;
  return roster.named(team, name);
}

/** `ana-2` is an instance with a name of its own: mail for `ana` is never for it. */
const isInstance = (agent: Agent, profile: string): boolean => agent.name.startsWith(`${profile}-`);

const othersOf = (agents: readonly Agent[], asker: Asker): Agent[] => agents.filter((agent) => agent.id !== asker.id);
const hit = (agent: Agent, why: string): Finding => ({ hits: [agent], why });
const miss = (why: string): Finding => ({ hits: [], why });

function forNames(find: (query: NameQuery, lookups: Lookups) => Finding | null): Rule["find"] {
  return (address, asker, lookups) => {
    if (address.kind !== "name") return null;
    return find({ team: address.team ?? asker.team, name: address.name, asker }, lookups);
  };
}
