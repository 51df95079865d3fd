/** Keeps what is known of Claude Code agents true to what the program itself says of its sessions. */
import type { Directory } from "../../agents/directory/directory.ts";
import { isLive } from "../../model/agent.ts";
import type { AgentId } from "../../model/ids.ts";
import { isClaude, type ClaudeSessions } from "./sessions.ts";
import { AgentWatches, type AgentWatchesParts } from "../../agents/status/agentWatches.ts";

export interface ClaudeLinkParts {
  readonly sessions: ClaudeSessions;
  readonly directory: Directory;
  readonly onEvent: AgentWatchesParts["onEvent"];
  /** The program said something new. */
  readonly changed: (agent: AgentId) => void;
}

export class ClaudeLink implements Disposable {
  private readonly attendance: AgentWatches;

  constructor(private readonly parts: ClaudeLinkParts) {
    const { directory, onEvent, sessions } = parts;
    this.attendance = new AgentWatches({
      directory,
      onEvent,
      placeOf: (agent) => (isClaude(agent) ? JSON.stringify(agent.endpoints) : null),
      watch: (agent) => {
        // Not within the event that told of the agent.
        queueMicrotask(() => this.refresh(agent.id));
        return sessions.watch(agent, () => this.refresh(agent.id));
      },
    });
  }

  start(): void {
    this.attendance.start();
  }

  [Symbol.dispose](): void {
    this.attendance[Symbol.dispose]();
  }

  private refresh(id: AgentId): void {
    const { directory, sessions, changed } = this.parts;
    const agent = directory.agent(id);
    if (agent === null || !isLive(agent)) return;
    const session = sessions.of(agent);
    if (session === null) return;
    if (session.sessionId !== agent.sessionId) directory.update(id, { sessionId: session.sessionId });
    const reported = sessions.reportedState(agent);
    if (reported === null || (agent.state === reported.state && agent.stateReason === reported.reason)) return;
    directory.observe(id, reported.state, reported.reason);
    changed(id);
  }
}
