/** Keeps what is known of Codex agents true to what their app servers say of their threads. */
import type { Directory } from "../directory/directory.ts";
import { isLive, type Agent } from "../model/agent.ts";
import type { Event } from "../model/event.ts";
import type { AgentId } from "../model/ids.ts";
import { codexServerOf, type CodexThreads, type Thread } from "../providers/codex/threads.ts";

export interface CodexLinkParts {
  readonly threads: Pick<CodexThreads, "known" | "said" | "watch">;
  readonly directory: Directory;
  readonly onEvent: (listener: (event: Event) => void) => () => void;
  /** The program said something new. */
  readonly changed: (agent: AgentId) => void;
  /** A turn has ended: what it did not read is lost to it. */
  readonly turnEnded: (agent: AgentId) => void;
}

export class CodexLink implements Disposable {
  private readonly watched = new Map<AgentId, { readonly socket: string; readonly watch: Disposable }>();
  private stopListening: () => void = () => undefined;

  constructor(private readonly parts: CodexLinkParts) {}

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
    const { directory, threads } = this.parts;
    const agent = directory.agent(id);
    const socket = agent !== null && isLive(agent) ? (codexServerOf(agent)?.socket ?? null) : null;
    const known = this.watched.get(id);
    if ((known?.socket ?? null) === socket) return;
    known?.watch[Symbol.dispose]();
    this.watched.delete(id);
    if (agent === null || socket === null) return;
    const watch = threads.watch(agent, { changed: () => this.refresh(id), loaded: (thread) => this.enter(id, thread) });
    this.watched.set(id, { socket, watch });
  }

  /** The person began or opened another conversation; the agent is in that one now. */
  private enter(id: AgentId, thread: Thread): void {
    const { directory } = this.parts;
    const agent = directory.agent(id);
    if (agent !== null && !codexServerOf(agent)?.shared) directory.update(id, { sessionId: thread.id });
  }

  private refresh(id: AgentId): void {
    const { directory, threads, changed, turnEnded } = this.parts;
    const agent = directory.agent(id);
    const thread = agent && isLive(agent) ? threads.known(agent) : null;
    if (agent === null || thread === null) return;
    if (thread.id !== agent.sessionId) directory.update(id, { sessionId: thread.id });
    const said = threads.said(agent);
    if (said === null) return;
    if (said.state === "idle") turnEnded(id);
    if (!isKnown(agent, said)) directory.observe(id, said.state, said.reason);
    changed(id);
  }
}

const isKnown = (agent: Agent, { state, reason }: { state: Agent["state"]; reason: string | null }): boolean =>
  agent.state === state && agent.stateReason === reason;
