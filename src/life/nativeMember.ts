import type { Directory } from "../directory/directory.ts";
import type { Agent, Endpoint } from "../model/agent.ts";
import type { NativeMember } from "../providers/claude-code/teams.ts";

/**
 * A member of a Claude Code team as an agent that can be written to, not known to anybody yet. A name that several
 * teams have means nobody, unless one of them has the name of the sender's team.
 */
export function nativeAgent(
  members: readonly NativeMember[],
  { team, name }: { readonly team: string; readonly name: string },
  { directory, endpoint }: { readonly directory: Pick<Directory, "prepare">; readonly endpoint: (inbox: string) => Endpoint },
): Agent | null {
  const named = members.filter((member) => member.name === name);
  const member = named.find((one) => one.team === team) ?? (named.length === 1 ? named[0] : undefined);
  if (member === undefined) return null;
  return directory.prepare({ name, team, provider: "claude-code", role: member.agentType, endpoints: [endpoint(member.inbox)] });
}
