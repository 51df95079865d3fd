/**
 * Members of Claude Code's own teams as agents. Each is in the directory while it may run, so that it is listed and
 * written to like every other; one that has left is forgotten, unless it has mail.
 */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { defaultTeam } from "../../../../config/project.ts";
import type { Directory } from "../../../../agents/directory/directory.ts";
import type { Mailbox } from "../../../../mailbox/port.ts";
import {
  isLive,
  isReservedName,
  maxNameLength,
  namePattern,
  type Agent,
  type Endpoint,
} from "../../../../model/agent.ts";
import type { AgentId } from "../../../../model/ids.ts";
import { stateOf } from "../../sessions.ts";
import { userMember } from "../teamProtocol.ts";
import { configOf, nativeTeams, teamIn, type NativeMember, type NativeTeam } from "../teams.ts";
import { instanceName } from "../../../../agents/adopt/discover.ts";
import type { Sender } from "../../../../model/message.ts";
import type { Router } from "../../../../routing/router.ts";
import type { NativeProcess, NativeTeams } from "../../../nativeTeams.ts";
import { agentIdIn, type MemberPresence, type TeamPresence } from "./presence.ts";
import { askToShutDown, isNativeOnly } from "./shutdown.ts";
import { claudeInboxKind } from "../../inboxEndpoint.ts";

export interface NativeMembersParts {
  readonly configDir: string;
  /** Names this home; members that it has registered are agents of ours. */
  readonly home: string;
  readonly directory: Directory;
  readonly mailbox: Pick<Mailbox, "log">;
  readonly router: Pick<Router, "send">;
  readonly endpoint: (inbox: string) => Endpoint;
  /** Whether the team's project gives this name to an agent of its own. */
  readonly isDeclared: (team: string, name: string) => boolean;
  /** The directories of our teams' projects. */
  readonly rootsOf: () => ReadonlyMap<string, string>;
  /** Something may be written to this agent again. */
  readonly changed: (agent: AgentId) => void;
}

/** Those that a name means for a sender. */
export interface NativeFinding {
  readonly agents: readonly Agent[];
  /** They belong to the sender's own team. */
  readonly own: boolean;
}

/** What is known of a sender. */
type Asking = Pick<Agent, "id" | "team">;

export class NativeMembers implements NativeTeams {
  /** As last seen, by inbox. */
  private readonly presences = new Map<string, MemberPresence>();

  constructor(private readonly parts: NativeMembersParts) {}

  /** By their native name: of the sender's own Claude Code team, of those that belong to its team, of any. */
  find(asker: Asking, team: string, name: string): NativeFinding {
    const everywhere = this.teams().flatMap((one) =>
      this.membersOf(one)
        .filter((member) => member.name === name)
        .map((member) => ({ team: one, member })),
    );
    const named =
      team === asker.team
        ? everywhere
        : everywhere.filter((one) => [one.team.title, one.team.name, this.homeOf(one.team)].includes(team));
    const own = named.filter((one) => this.isIn(asker, one.team));
    const near = own.length > 0 ? own : named.filter((one) => this.homeOf(one.team) === asker.team);
    const agents = (near.length > 0 ? near : named).map((one) => this.agentOf(one.team, one.member));
    const live = agents.filter(isLive);
    return { agents: live.length > 0 ? live : agents, own: near.length > 0 };
  }

  *names(): Iterable<string> {
    for (const team of this.teams()) yield* this.membersOf(team).map(({ name }) => name);
  }

  /** The member that is called so in the team's file, as the agent that it is or would be; null: there is none. */
  called(team: NativeTeam, name: string): Agent | null {
    const member = this.membersOf(team).find((one) => one.name === name);
    return member ? this.agentOf(team, member) : null;
  }

  readonly isNativeOnly = isNativeOnly;

  nameIn(argv: readonly string[]): string | null {
    return agentIdIn(argv)?.split("@")[0] ?? null;
  }

  askToShutDown(agent: Agent, from: Sender): Promise<Agent> {
    return askToShutDown(agent, from, this.parts);
  }

  /** By its own arguments, or because its session leads a team. */
  runningAs({ provider, argv, sessionId }: NativeProcess): Agent | null {
    if (provider !== "claude-code") return null;
    const agentId = agentIdIn(argv);
    for (const team of this.teams()) {
      const leads = sessionId !== null && team.lead.sessionId === sessionId;
      const member = this.membersOf(team).find(
        (one) => one.registered === null && (one.agentId === agentId || (leads && one.name === team.lead.name)),
      );
      const agent = member && this.parts.directory.agent(this.agentOf(team, member).id);
      if (agent) return agent;
    }
    return null;
  }

  /** The team in whose list a member that is known by its inbox alone appears. */
  homeOfAgent(agent: Agent): string {
    const inbox = isNativeOnly(agent) ? inboxOf(agent) : null;
    const team = inbox === null ? null : teamIn(folderOf(inbox));
    return team === null ? agent.team : this.homeOf(team);
  }

  /** Brings the directory up to date with one team. */
  met(team: NativeTeam, presence: TeamPresence): void {
    const { directory, endpoint, changed } = this.parts;
    for (const member of this.membersOf(team).filter(({ registered }) => registered === null)) {
      const life = presence.of(member);
      this.presences.set(member.inbox, life);
      const agent = this.agentOf(team, member);
      const known = directory.agent(agent.id);
      if (known === null) {
        if (life !== "ended")
          directory.add({ ...agent, stateReason: `it has not reported to the Claude Code team ${team.title} yet` });
        continue;
      }
      // The process of one that agreed to shut down runs for a moment longer.
      const joinedSince = life !== "ended" && member.joinedAt !== null && member.joinedAt > known.stateAt;
      const joined = joinedSince || (life === "runs" && !known.shutDown);
      if (known.endpoints.length === 0 || (isOver(known) && !isNativeOnly(known))) {
        // It agreed to end, or its pane is closed; it counts as back only when something says so.
        if (joined)
          directory.update(known.id, { endpoints: [endpoint(member.inbox)], state: "unknown", stateReason: null });
        if (joined) changed(known.id);
      } else if (isNativeOnly(known)) {
        if (life === "ended") directory.observe(known.id, "gone", ended);
        else if (member.name === team.lead.name && presence.lead !== null && presence.lead.status !== "unknown")
          directory.observe(known.id, stateOf(presence.lead));
        else if (known.state === "gone") directory.observe(known.id, "unknown");
        if (known.state === "gone" && life !== "ended") changed(known.id);
      }
    }
  }

  /** A name that the team's project gives to an agent of its own is that agent's, whichever came first. */
  makeRoom(team: string): void {
    const { directory, isDeclared } = this.parts;
    for (const agent of directory.roster.inTeam(team)) {
      if (!isNativeOnly(agent) || !isDeclared(team, agent.name)) continue;
      directory.update(agent.id, {
        name: instanceName(agent.name, (one) => directory.roster.named(team, one) !== null || isDeclared(team, one)),
      });
    }
  }

  /** Forgets those who have left their teams, but for those of whom there is mail. */
  forgetLeavers(): void {
    const { directory, mailbox } = this.parts;
    for (const agent of directory.agents().filter(isNativeOnly)) {
      const inbox = inboxOf(agent)!;
      const team = teamIn(folderOf(inbox));
      // Half of its file may be there at this moment.
      if (
        team === null
          ? existsSync(configOf(folderOf(inbox)))
          : this.membersOf(team).some((member) => member.inbox === inbox && this.agentOf(team, member).id === agent.id)
      )
        continue;
      if (mailbox.log({ agent: agent.id, limit: 1 }).length === 0) directory.remove(agent.id);
      else directory.observe(agent.id, "gone", "it is not in its Claude Code team any more");
    }
  }

  private teams(): NativeTeam[] {
    return nativeTeams(this.parts.configDir);
  }

  /**
   * Agents of ours and the user are no members of theirs; a name that means something else here, or nothing, is no
   * address.
   */
  private membersOf({ members }: NativeTeam): readonly NativeMember[] {
    return members.filter(
      ({ name, registered }) =>
        registered?.home !== this.parts.home && !(registered !== null && name === userMember) && isAddress(name),
    );
  }

  /** Where its name is taken, or given away by the project, the member gets the next that is free. */
  private agentOf(team: NativeTeam, member: NativeMember): Agent {
    const { directory, endpoint, isDeclared } = this.parts;
    const known = this.agentAt(member.inbox) ?? (member.name === team.lead.name ? this.leading(team) : null);
    if (known !== null) return known;
    const home = teamNameOf(team);
    const holder = directory.roster.named(home, member.name);
    if (holder !== null && isLeftOver(holder)) return holder;
    const name = instanceName(
      member.name,
      (one) => directory.roster.named(home, one) !== null || isDeclared(home, one),
    );
    const state = this.presences.get(member.inbox) === "ended" ? ({ state: "gone", stateReason: ended } as const) : {};
    return directory.prepare({
      name,
      team: home,
      provider: "claude-code",
      role: member.agentType,
      endpoints: [endpoint(member.inbox)],
      ...state,
    });
  }

  /** One that is in a pane as well says more about itself. */
  private agentAt(inbox: string): Agent | null {
    const here = this.parts.directory.agents().filter((agent) => inboxOf(agent) === inbox);
    return here.find((agent) => !isNativeOnly(agent)) ?? here[0] ?? null;
  }

  /** The agent of ours whose session leads the team. */
  private leading(team: NativeTeam): Agent | null {
    const agents = this.parts.directory.agents();
    const bySession =
      team.lead.sessionId === null
        ? undefined
        : agents.find((agent) => isLive(agent) && agent.sessionId === team.lead.sessionId);
    return bySession ?? nativeLead(team, agents);
  }

  private isIn({ id }: Asking, team: NativeTeam): boolean {
    return this.leading(team)?.id === id || team.members.some(({ inbox }) => this.agentAt(inbox)?.id === id);
  }

  /**
   * The team of ours that a Claude Code team belongs to: by its name, its lead, or the directory that the lead works
   * in.
   */
  private homeOf(team: NativeTeam): string {
    const { directory } = this.parts;
    const isOurs = (name: string): boolean =>
      name === defaultTeam ||
      directory.team(name) !== null ||
      directory.roster.inTeam(name).some((agent) => !isNativeOnly(agent));
    const named = [team.title, team.name].find(isOurs);
    if (named !== undefined) return named;
    const cwd = (team.members.find(({ name }) => name === team.lead.name) ?? team.members[0])?.cwd ?? null;
    return this.leading(team)?.team ?? (cwd === null ? null : this.teamAt(cwd)) ?? defaultTeam;
  }

  /** Of several projects that hold the directory, the innermost. */
  private teamAt(cwd: string): string | null {
    const holding = [...this.parts.rootsOf()].filter(([, root]) => `${cwd}/`.startsWith(`${root}/`));
    return holding.toSorted(([, a], [, b]) => b.length - a.length)[0]?.[0] ?? null;
  }
}

/** The team of ours whose names a Claude Code team's members have. */
export const teamNameOf = ({ title, name }: NativeTeam): string =>
  [title, name].find((one) => namePattern.test(one)) ?? defaultTeam;

/** The agent of ours that leads the team by its input stream, and so reads no inbox. */
export function nativeLead({ lead, title, name }: NativeTeam, agents: readonly Agent[]): Agent | null {
  const leads = (agent: Agent): boolean =>
    (lead.sessionId !== null && agent.sessionId === lead.sessionId) ||
    (agent.name === lead.name && [title, name].includes(agent.team));
  return (
    agents.find(
      (agent) => isLive(agent) && agent.endpoints.some(({ transport }) => transport === "stream-json") && leads(agent),
    ) ?? null
  );
}

const ended = "no process of Claude Code runs it any more";

const isAddress = (name: string): boolean =>
  namePattern.test(name) && name.length <= maxNameLength && !isReservedName(name);

const inboxOf = (agent: Agent): string | null => claudeInboxKind.of(agent)?.locator.inbox ?? null;
const folderOf = (inbox: string): string => dirname(dirname(inbox));

const isOver = (agent: Agent): boolean => !isLive(agent);
/** What is left of a member or of an adopted session: nothing can start it again but itself. */
const isLeftOver = (agent: Agent): boolean =>
  agent.kind === "program" && isOver(agent) && agent.launch === null && agent.tokenDigest === null;
