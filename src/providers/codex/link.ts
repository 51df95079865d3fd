/** Keeps what is known of Codex agents true to what their app servers say of their threads. */
import type { Directory } from "../../agents/directory/directory.ts";
import { isLive } from "../../model/agent.ts";
import type { AgentId } from "../../model/ids.ts";
import { codexServerOf, type CodexThreads, type Thread } from "./threads.ts";
import { AgentWatches, type AgentWatchesParts } from "../../agents/status/agentWatches.ts";

export interface CodexLinkParts {
  readonly threads: Pick<CodexThreads, "known" | "reportedState" | "watch">;
  readonly directory: Directory;
  readonly onEvent: AgentWatchesParts["onEvent"];
  /** The program said something new. */
  readonly changed: (agent: AgentId) => void;
  /** A turn has ended: what it did not read is lost to it. */
  readonly turnEnded: (agent: AgentId) => void;
}

export class CodexLink implements Disposable {
  private readonly attendance: AgentWatches;

  constructor(private readonly parts: CodexLinkParts) {
    const { directory, onEvent, threads } = parts;
    this.attendance = new AgentWatches({
      directory,
      onEvent,
      placeOf: (agent) => codexServerOf(agent)?.socket ?? null,
      watch: (agent) =>
        threads.watch(agent, {
          changed: () => this.refresh(agent.id),
          loaded: (thread) => this.enter(agent.id, thread),
        }),
    });
  }

  start(): void {
    this.attendance.start();
  }

  [Symbol.dispose](): void {
    this.attendance[Symbol.dispose]();
  }

  /**
   * The user began or opened another conversation; the agent is in that one now. At a server that others share it may
   * be theirs: where it cannot be told apart by its directory, the agent is typed to from now on, and known by what it
   * reads.
   */
  private enter(id: AgentId, thread: Thread): void {
    const { directory, threads } = this.parts;
    const agent = directory.agent(id);
    if (agent === null || thread.id === agent.sessionId) return;
    if (!codexServerOf(agent)?.shared) return void directory.update(id, { sessionId: thread.id });
    const isAnothers = directory.agents().some((other) => other.id !== id && other.sessionId === thread.id);
    if (isAnothers || threads.known(agent)?.cwd !== thread.cwd) return;
    directory.update(id, { endpoints: agent.endpoints.filter(({ transport }) => transport !== "codex-server") });
  }

  private refresh(id: AgentId): void {
    const { directory, threads, changed, turnEnded } = this.parts;
    const agent = directory.agent(id);
    const thread = agent && isLive(agent) ? threads.known(agent) : null;
    if (agent === null || thread === null) return;
    if (thread.id !== agent.sessionId) directory.update(id, { sessionId: thread.id });
    const reported = threads.reportedState(agent);
    if (reported === null) return;
    if (reported.state === "idle") turnEnded(id);
    if (agent.state !== reported.state || agent.stateReason !== reported.reason)
      directory.observe(id, reported.state, reported.reason);
    changed(id);
  }
}
