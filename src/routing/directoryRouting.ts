/** The router's parts over the real directory: whom an address means there, and who may write to whom. */
import { resolve as resolveAddress } from "./addresses/resolve.ts";
import type { Lookups } from "./addresses/rules.ts";
import type { Directory } from "../agents/directory/directory.ts";
import { userAgent } from "../agents/directory/roster.ts";
import { agentOf } from "../agents/start/enlist.ts";
import type { NativeTeams } from "../providers/nativeTeams.ts";
import { userId, type Agent } from "../model/agent.ts";
import { asTielineError } from "../model/errors.ts";
import type { Emit } from "../model/event.ts";
import type { Sender } from "../model/message.ts";
import type { Profile } from "../model/profile.ts";
import type { RefusedRecipient, RouterParts } from "./router.ts";
import { everyoneDenied, routeDenied } from "./topology/check.ts";
import { allowedTargets, permit, type Party } from "./topology/topology.ts";

/** Profiles as they may be started at one moment; null: there is none. Throws UNTRUSTED. */
export type ProfilesToStart = () => (team: string, name: string) => Profile | null;

export function routes(
  directory: Directory,
  lookups: Lookups,
  profilesToStart: ProfilesToStart,
  emit: Emit,
  { isNativeOnly }: Pick<NativeTeams, "isNativeOnly">,
): Pick<RouterParts, "resolve" | "permit" | "enlist" | "mayStart"> {
  return {
    resolve(address, from, spawn = false) {
      const { agents, startable, missing } = resolveAddress(address, partyOf(from, directory), lookups, { spawn });
      const prospects = startable.map(({ profile, name, team }) => agentOf(profile, name, team, directory));
      return { agents: [...agents, ...prospects], missing: missing.map(({ name, error }) => ({ agent: name, error })) };
    },

    permit(from, agents, { address, broadcast, inReplyTo }) {
      const party = partyOf(from, directory);
      const topology = lookups.topology(party.team);
      const answers = (agent: Agent): boolean => inReplyTo !== null && inReplyTo.from.id === agent.id;
      const reply = agents.length > 0 && agents.every(answers);
      const everyone = address === "*";
      const { denied } = permit(
        topology,
        party,
        agents.map((agent) => asNamed(agent, address, party)),
        { reply, everyone },
      );
      const deniedIds = new Set(denied.map(({ id }) => id));
      const permitted = agents.filter(({ id }) => !deniedIds.has(id));
      const allowed = allowedTargets(topology, party);
      const { known, unknown } = enlistable(permitted, broadcast);
      if (denied.length === 0) return { recipients: known, refused: unknown, allowed };
      emit({ type: "route.denied", from: from.name, to: address, team: party.team, allowed });
      if (!broadcast) throw routeDenied(topology, party, denied);
      // Who may not write to everyone learns nothing of who that is.
      if (everyone && permitted.length === 0) throw everyoneDenied(topology, party);
      const refused = denied.map((agent) => ({
        agent: agent.team === party.team ? agent.name : `${agent.team}:${agent.name}`,
        error: routeDenied(topology, party, [agent]),
      }));
      return { recipients: known, refused: [...unknown, ...refused], allowed };
    },

    enlist: (agent) => directory.add(agent),

    /**
     * A user's mail starts whatever can be started; an agent's only what its own project or user wrote down, and
     * only along an edge: a reply may go without one, but it starts no agent.
     */
    mayStart(from, agent) {
      if (agent.launch === null) return false;
      const profile = lookups.profile(agent.team, agent.launch.profile ?? agent.name);
      if (profile?.autostart === false) return false;
      if (from.id === userId) return true;
      const party = partyOf(from, directory);
      const ownProfile = agent.team === party.team && (profile?.origin === "project" || profile?.origin === "user");
      return ownProfile && permit(lookups.topology(party.team), party, [agent]).permitted.length === 1;
    },
  };

  /** A member of a program's own team, named without a team, counts as one of the sender's: edges name it so, too. */
  function asNamed(agent: Agent, address: string, { team }: Party): Agent {
    return isNativeOnly(agent) && !address.includes(":") ? { ...agent, team } : agent;
  }

  /** Mail makes an agent known that has only a profile yet; what that says must be trusted first. */
  function enlistable(agents: readonly Agent[], broadcast: boolean): { known: Agent[]; unknown: RefusedRecipient[] } {
    const profileToStart = profilesToStart();
    const known: Agent[] = [];
    const unknown: RefusedRecipient[] = [];
    for (const agent of agents) {
      try {
        known.push(
          directory.agent(agent.id) !== null || agent.launch === null
            ? agent
            : asToBeStarted(agent, profileToStart(agent.team, agent.launch.profile ?? agent.name)),
        );
      } catch (thrown) {
        const error = asTielineError(thrown);
        if (!broadcast || error.code === "INTERNAL") throw thrown;
        unknown.push({ agent: agent.name, error });
      }
    }
    return { known, unknown };
  }
}

function asToBeStarted(agent: Agent, profile: Profile | null): Agent {
  if (profile === null) return agent;
  const { provider, role, may, workspace } = profile;
  return { ...agent, provider, role, may, workspace };
}

/** The user speaks in the team that they call from. */
export function partyOf(from: Sender, directory: Directory): Party {
  if (from.id === userId) return { ...userAgent, team: from.team };
  return (
    directory.agent(from.id) ?? {
      ...userAgent,
      id: from.id,
      name: from.name,
      team: from.team,
      kind: "object",
      may: [],
    }
  );
}
