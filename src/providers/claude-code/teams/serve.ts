/** Mail from Claude Code's own teams and from leads without a screen, and our agents as members of those teams. */
import type { Project } from "../../../config/project.ts";
import type { Spine } from "../../../events/spine.ts";
import { NativeLink, type NativeLinkParts } from "./native/link.ts";
import { nativeLead, type NativeMembers } from "./native/members.ts";
import { keepNativeMembers } from "./native/membership.ts";
import { MemberPresences } from "./native/presence.ts";
import type { Agent, Endpoint } from "../../../model/agent.ts";
import { agentId, type Clock, type RandomBytes } from "../../../model/ids.ts";
import { readRegistry } from "../registry.ts";
import type { InboxLayout, NativeTeam } from "./teams.ts";
import type { Processes } from "../../../os/processes.ts";
import type { Mailbox } from "../../../mailbox/port.ts";
import { relayLeadText, type LeadTextParts } from "./leadText.ts";
import { NativeIntake, type AcceptParts } from "./accept.ts";
import { watchClaudeTeams } from "./watch.ts";
import type { Timers } from "../../../os/timers.ts";

export interface NativeTeamsParts
  extends
    Pick<AcceptParts, "directory" | "router">,
    Pick<LeadTextParts, "documents" | "root">,
    Pick<NativeLinkParts, "argv" | "policy"> {
  readonly mailbox: Mailbox;
  readonly members: NativeMembers;
  readonly processes: Processes;
  readonly events: Pick<Spine, "onEvent">;
  readonly configDir: string;
  readonly register: boolean;
  readonly layout: InboxLayout;
  /** How a member is reached whose inbox this is. */
  readonly endpoint: (inbox: string) => Endpoint;
  readonly projectOf: (team: string) => Project | null;
  readonly report: (context: string, fault: unknown) => void;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  readonly timers?: Timers;
  readonly random?: RandomBytes;
}

/** Runs until the signal aborts. Never rejects. */
export async function serveNativeTeams(parts: NativeTeamsParts): Promise<void> {
  const { directory, mailbox, members, processes, events, configDir, register, layout, projectOf, report, signal } =
    parts;
  const { clock, timers, random } = parts;
  const time = { ...(clock && { clock }), ...(timers && { timers }), ...(random && { random }) };
  const common = { configDir, home: mailbox.id, report, signal, ...time };
  const leadOf = (team: NativeTeam): Agent | null => nativeLead(team, directory.agents());
  const intake = new NativeIntake({
    ...parts,
    leadOf,
    registered,
    memberOf: (team, name) => members.called(team, name),
  });
  const link = new NativeLink(parts);
  const presences = new MemberPresences({ processes, sessions: async () => (await readRegistry(configDir)).sessions });
  const met = async (team: NativeTeam): Promise<void> => {
    await link.met(team);
    members.met(team, await presences.of(team));
  };
  await Promise.all([
    watchClaudeTeams({
      ...common,
      layout,
      leadLives,
      onChange: onArrival,
      accept: intake.accept,
      relays: (team) => leadOf(team) !== null,
      met,
      metAll: () => members.forgetLeavers(),
    }),
    relayLeadText({ ...parts, agents: () => directory.agents() }),
    keepNativeMembers({
      ...{ ...common, register, agents: () => directory.agents() },
      cwdOf: ({ launch, workspace, team }) => launch?.cwd ?? workspace ?? projectOf(team)?.root ?? "",
      onChange: (changed) => events.onEvent(({ type }) => type.startsWith("agent.") && changed()),
    }),
  ]);

  /** What an agent does from moment to moment makes no difference here. */
  function onArrival(changed: () => void): () => void {
    return events.onEvent(
      (event) =>
        (event.type === "agent.registered" || (event.type === "agent.changed" && event.state === "starting")) &&
        changed(),
    );
  }

  function registered(team: NativeTeam, name: string): Agent | null {
    const own = team.members.find((member) => member.name === name && member.registered?.home === mailbox.id);
    return own?.registered ? directory.agent(agentId(own.registered.agent)) : null;
  }

  async function leadLives({ lead }: NativeTeam): Promise<boolean> {
    const { sessions } = await readRegistry(configDir);
    return sessions.some(({ sessionId, alive }) => alive && sessionId === lead.sessionId);
  }
}
