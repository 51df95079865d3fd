/** Keeps our agents registered in the Claude Code teams that they belong to, as long as they live. */
import { join } from "node:path";
import { isLive, userId, userName, type Agent } from "../../../../model/agent.ts";
import { asTielineError } from "../../../../model/errors.ts";
import { systemClock, type Clock, type RandomBytes } from "../../../../model/ids.ts";
import { registerMembers, type Registration } from "../teamMembers.ts";
import { userMember } from "../teamProtocol.ts";
import { folderNameOf, nativeTeams, type NativeTeam } from "../teams.ts";
import { runForever } from "../../../../os/runForever.ts";
import { createBell, renewWatcher, type Watcher } from "../../../../os/watchFolder.ts";
import { claudeInboxKind } from "../../inboxEndpoint.ts";
import { tmuxEndpoint } from "../../../../delivery/transports/paneEndpoint.ts";
import { systemTimers, type Timers } from "../../../../os/timers.ts";

export interface NativeMembershipOptions {
  readonly configDir: string;
  /** Names this home among others that register their agents in the same file. */
  readonly home: string;
  /** Off: no agent is registered, and records are removed. */
  readonly register: boolean;
  readonly agents: () => readonly Agent[];
  readonly cwdOf: (agent: Agent) => string;
  /** Calls back when agents came, went or changed. */
  readonly onChange: (changed: () => void) => () => void;
  readonly report: (context: string, fault: unknown) => void;
  readonly signal: AbortSignal;
  readonly sweepMs?: number;
  readonly clock?: Clock;
  readonly timers?: Timers;
  readonly random?: RandomBytes;
}

const restMs = 200;

/** Runs until the signal aborts. Never rejects. Agents outlive the daemon, so they stay registered then. */
export async function keepNativeMembers(options: NativeMembershipOptions): Promise<void> {
  const { configDir, signal, report, timers = systemTimers, sweepMs = 5_000, clock = systemClock } = options;
  const bell = createBell(signal, timers);
  const stopListening = options.onChange(bell.ring);
  let watcher: Watcher | undefined;
  const step = async (): Promise<void> => {
    watcher = renewWatcher(watcher, join(configDir, "teams"), bell.ring);
    for (const team of nativeTeams(configDir)) {
      await registerMembers(team.folder, options.home, wantedIn(team, options, clock()), options).catch(
        (fault: unknown) => report(`the members of the Claude Code team ${team.name}`, asTielineError(fault)),
      );
    }
    await bell.wait(sweepMs);
    // Agents change many times a second; who looks at members does not mind a moment.
    await timers.pause(restMs, signal);
  };
  await runForever("register agents in Claude Code teams", signal, step, report, { timers });
  watcher?.close();
  stopListening();
}

function wantedIn(team: NativeTeam, { register, agents, cwdOf }: NativeMembershipOptions, now: number): Registration[] {
  if (!register) return [];
  // Two names for the user: what Claude Code makes of `user` depends on its version.
  const user = [userName, userMember].map((name) => ({
    agent: userId,
    name,
    agentType: "user",
    joinedAt: now,
    pane: null,
    cwd: "",
    isActive: false,
  }));
  const live = agents().filter((agent) => agent.kind === "program" && isLive(agent));
  const teams = new Set(live.map((agent) => agent.team).filter((name) => belongs(team, name, live)));
  const ours = live
    .filter((agent) => teams.has(agent.team) && !isNative(team, agent))
    .map((agent) => ({
      ...{ agent: agent.id, name: agent.name, agentType: agent.role ?? agent.provider, joinedAt: agent.createdAt },
      ...{ pane: paneOf(agent), cwd: cwdOf(agent), isActive: agent.state === "working" },
    }));
  return [...user, ...ours];
}

/** A team of ours and one of Claude Code's are the same when they have one name, or when one of ours leads it. */
function belongs({ name, title, lead }: NativeTeam, team: string, live: readonly Agent[]): boolean {
  if (title === team || name === folderNameOf(team)) return true;
  return lead.sessionId !== null && live.some((agent) => agent.team === team && agent.sessionId === lead.sessionId);
}

/** Those it has already: its lead, and members of its own that we know. */
function isNative({ lead, members }: NativeTeam, agent: Agent): boolean {
  if (agent.name === lead.name || (lead.sessionId !== null && agent.sessionId === lead.sessionId)) return true;
  const inboxes = agent.endpoints.filter(claudeInboxKind.is).map(({ locator }) => locator.inbox);
  return members.some(({ inbox }) => inboxes.includes(inbox));
}

function paneOf(agent: Agent): string | null {
  return tmuxEndpoint.of(agent)?.locator.pane ?? null;
}
