/** Agents of ours that are members of a Claude Code team by birth: their own command line says so. */
import type { Directory } from "../../../../agents/directory/directory.ts";
import { isLive, type Agent, type Endpoint } from "../../../../model/agent.ts";
import type { NativeMember, NativeTeam } from "../teams.ts";
import { bothEndpoint } from "../../../../delivery/transports/bothEndpoint.ts";
import { agentIdIn } from "./presence.ts";
import { tmuxEndpoint } from "../../../../delivery/transports/paneEndpoint.ts";

export interface NativeLinkParts {
  readonly directory: Pick<Directory, "agents" | "agent" | "update">;
  readonly argv: (pid: number) => Promise<readonly string[]>;
  readonly endpoint: (inbox: string) => Endpoint;
  /** `both`: what goes to such an agent goes to its inbox and its pane. */
  readonly policy: "one" | "both";
}

export class NativeLink {
  /** Whose member a process is does not change once its command line says so. */
  private readonly identities = new Map<string, string>();

  constructor(private readonly parts: NativeLinkParts) {}

  /** Gives members of this team that run in panes of ours their inbox as an endpoint. */
  readonly met = async (team: NativeTeam): Promise<void> => {
    const { directory } = this.parts;
    for (const agent of directory.agents()) {
      if (agent.provider !== "claude-code" || !isLive(agent)) continue;
      const identity = await this.identityOf(agent);
      const member = identity === null ? undefined : team.members.find((one) => isCalled(one, team, identity));
      const known = member && directory.agent(agent.id);
      if (known) this.link(known, member.inbox);
    }
  };

  private link({ id, endpoints }: Agent, inbox: string): void {
    const others = endpoints.filter(
      ({ transport }) => transport !== "claude-inbox" && transport !== bothEndpoint.transport,
    );
    const wanted = [...others, this.parts.endpoint(inbox), ...(this.parts.policy === "both" ? [bothEndpoint] : [])];
    if (JSON.stringify(wanted) !== JSON.stringify(endpoints)) this.parts.directory.update(id, { endpoints: wanted });
  }

  /** `--agent-id bob@crew` */
  private async identityOf(agent: Agent): Promise<string | null> {
    const pane = tmuxEndpoint.of(agent)?.locator;
    if (pane === undefined) return null;
    const { agentPid: pid, agentStartMark: mark } = pane;
    const key = `${pid}:${mark}`;
    // A new process has another command line until it has become Claude Code.
    const identity = this.identities.get(key) ?? agentIdIn(await this.parts.argv(pid));
    if (identity !== null) this.identities.set(key, identity);
    return identity;
  }
}

const isCalled = ({ name, agentId, registered }: NativeMember, team: NativeTeam, identity: string): boolean =>
  registered === null && [agentId, `${name}@${team.name}`, `${name}@${team.title}`].includes(identity);
