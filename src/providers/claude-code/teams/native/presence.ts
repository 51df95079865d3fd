/** Whether members of Claude Code teams run, as far as their teams' files and this machine's processes tell. */
import { readlinkSync } from "node:fs";
import type { RegisteredSession } from "../../registry.ts";
import type { NativeMember, NativeTeam } from "../teams.ts";
import type { ProcessFacts, Processes } from "../../../../os/processes.ts";

export type MemberPresence = "runs" | "ended" | "unknown";

export interface PresenceSources {
  readonly sessions: () => Promise<readonly RegisteredSession[]>;
  readonly processes: Pick<Processes, "all" | "argv">;
  /** The namespace of this machine's pids; null where that cannot be told. */
  readonly pidSpace?: () => string | null;
}

export interface TeamPresence {
  of(member: NativeMember): MemberPresence;
  /** The lead's session, while it lives. */
  readonly lead: RegisteredSession | null;
}

export class MemberPresences {
  /** Whose member a process is never changes. */
  private readonly agentIds = new Map<string, string | null>();

  constructor(private readonly sources: PresenceSources) {}

  async of(team: NativeTeam): Promise<TeamPresence> {
    const { sessions, pidSpace = ownPidSpace } = this.sources;
    const lead =
      team.lead.sessionId === null
        ? null
        : ((await sessions()).find(({ sessionId, alive }) => alive && sessionId === team.lead.sessionId) ?? null);
    // Pids of a container mean nothing out here.
    const isElsewhere =
      team.lead.process !== null && pidSpace() !== null && !team.lead.process.pidSpace.endsWith(pidSpace()!);
    const leads: MemberPresence =
      lead !== null ? "runs" : team.lead.sessionId === null || isElsewhere ? "unknown" : "ended";
    const running = team.members.some(hasOwnProcess) ? await this.running() : new Set<string>();
    return {
      lead,
      of(member) {
        if (member.name === team.lead.name || member.backend === "in-process") return leads;
        if (!hasOwnProcess(member)) return "unknown";
        return running.has(member.agentId) ? "runs" : isElsewhere ? "unknown" : "ended";
      },
    };
  }

  /** `--agent-id bob@crew`, of every process that has it. */
  private async running(): Promise<ReadonlySet<string>> {
    const candidates = (await this.sources.processes.all()).filter(({ command }) => mayBeClaude.test(command));
    const found = new Map(
      await Promise.all(
        candidates.map(
          async (one) => [keyOf(one), this.agentIds.get(keyOf(one)) ?? (await this.agentIdOf(one))] as const,
        ),
      ),
    );
    this.agentIds.clear();
    for (const [key, id] of found) this.agentIds.set(key, id);
    return new Set([...found.values()].filter((id) => id !== null));
  }

  private async agentIdOf({ pid }: ProcessFacts): Promise<string | null> {
    return agentIdIn(await this.sources.processes.argv(pid));
  }
}

/** The member that a process of Claude Code is, by its arguments; null: none. */
export const agentIdIn = (argv: readonly string[]): string | null =>
  argv[argv.indexOf("--agent-id") + 1 || argv.length] ?? null;

const mayBeClaude = /claude|node|bun/;
const keyOf = ({ pid, startMark }: ProcessFacts): string => `${pid}:${startMark}`;

/** Panes of tmux and iTerm. Others that we do not know may run anywhere. */
const hasOwnProcess = ({ backend, registered }: NativeMember): boolean =>
  registered === null && (backend === "tmux" || backend === "iterm2");

function ownPidSpace(): string | null {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    // Only Linux has namespaces.
    return null;
  }
}
