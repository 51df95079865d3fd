import type { Directory } from "../../directory/directory.ts";
import { isLive, isReservedName, maxNameLength, namePattern, type Agent, type Endpoint } from "../../model/agent.ts";
import { nativeMembers, type NativeMember, type NativeTeam } from "../../providers/claude-code/teams.ts";

export interface NativeAgentsParts {
  readonly configDir: string;
  /** Names this home; members that it has registered are agents of ours. */
  readonly home: string;
  readonly directory: Pick<Directory, "prepare" | "agents">;
  readonly endpoint: (inbox: string) => Endpoint;
}

export interface NativeAgents {
  member(team: string, name: string): Agent | null;
  names(): Iterable<string>;
}

/** Members of Claude Code teams, as agents that can be written to. */
export function nativeAgents({ configDir, home, directory, endpoint }: NativeAgentsParts): NativeAgents {
  const members = (): NativeMember[] => nativeMembers(configDir).filter(({ registered }) => registered?.home !== home);

  return {
    /**
     * The agent that it is already, or one that nobody knows yet. A name that several teams have means nobody, unless
     * one of them has the name of the sender's team.
     */
    member(team, name) {
      const named = isAddress(name) ? members().filter((one) => one.name === name) : [];
      const member = named.find((one) => one.team === team) ?? (named.length === 1 ? named[0] : undefined);
      if (member === undefined) return null;
      const known = directory.agents().find(({ endpoints }) => endpoints.some(({ locator }) => locator["inbox"] === member.inbox));
      return known ?? directory.prepare({ name, team, provider: "claude-code", role: member.agentType, endpoints: [endpoint(member.inbox)] });
    },

    names: () => members().map(({ name }) => name).filter(isAddress),
  };
}

/** Claude Code allows names that mean something else here, or nothing. */
const isAddress = (name: string): boolean => namePattern.test(name) && name.length <= maxNameLength && !isReservedName(name);

/** The agent of ours that leads the team by its input stream, and so reads no inbox. */
export function nativeLead({ lead, title, name }: NativeTeam, agents: readonly Agent[]): Agent | null {
  const leads = (agent: Agent): boolean => (lead.sessionId !== null && agent.sessionId === lead.sessionId) || (agent.name === lead.name && [title, name].includes(agent.team));
  return agents.find((agent) => isLive(agent) && agent.endpoints.some(({ transport }) => transport === "stream-json") && leads(agent)) ?? null;
}
