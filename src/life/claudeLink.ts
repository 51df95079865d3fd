/** Keeps what is known of Claude Code agents true to what the program itself says of its sessions. */
import type { Directory } from "../directory/directory.ts";
import { isLive, type Agent } from "../model/agent.ts";
import type { Event } from "../model/event.ts";
import type { AgentId } from "../model/ids.ts";
import { isClaude, type ClaudeSessions } from "../providers/claude-code/sessions.ts";

export interface ClaudeLinkParts {
  readonly sessions: ClaudeSessions;
  readonly directory: Directory;
  readonly onEvent: (listener: (event: Event) => void) => () => void;
  /** The program said something new. */
  readonly changed: (agent: AgentId) => void;
}

export class ClaudeLink implements Disposable {
  private readonly watched = new Map<AgentId, { readonly key: string; readonly watch: Disposable }>();
  private stopListening: () => void = () => undefined;

  constructor(private readonly parts: ClaudeLinkParts) {}

  start(): void {
    const { directory, onEvent } = this.parts;
    this.stopListening = onEvent((event) => {
      if (event.type === "agent.registered" || event.type === "agent.changed" || event.type === "agent.removed") this.attend(event.agent);
    });
    for (const { id } of directory.agents()) this.attend(id);
  }

  [Symbol.dispose](): void {
    this.stopListening();
    for (const { watch } of this.watched.values()) watch[Symbol.dispose]();
  }

  private attend(id: AgentId): void {
    const agent = this.parts.directory.agent(id);
    const wanted = agent !== null && isClaude(agent) && isLive(agent);
    const key = wanted ? JSON.stringify(agent.endpoints) : "";
    const known = this.watched.get(id);
    if (known?.key === key) return;
    known?.watch[Symbol.dispose]();
    this.watched.delete(id);
    if (!wanted) return;
    this.watched.set(id, { key, watch: this.parts.sessions.watch(agent, () => this.refresh(id)) });
    // Not within the event that told of the agent.
    queueMicrotask(() => this.refresh(id));
  }

  private refresh(id: AgentId): void {
    const { directory, sessions, changed } = this.parts;
    const agent = directory.agent(id);
    if (agent === null || !isLive(agent)) return;
    const session = sessions.of(agent);
    if (session === null) return;
    if (session.sessionId !== agent.sessionId) directory.update(id, { sessionId: session.sessionId });
    const said = sessions.said(agent);
    if (said === null || isKnown(agent, said)) return;
    directory.observe(id, said.state, said.reason);
    changed(id);
  }
}

const isKnown = (agent: Agent, { state, reason }: { state: Agent["state"]; reason: string | null }): boolean =>
  agent.state === state && agent.stateReason === reason;
