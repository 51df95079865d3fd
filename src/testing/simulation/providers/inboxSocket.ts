import type { Agent } from "../../../model/agent.ts";
import { TielineError } from "../../../model/errors.ts";
import type { Timers } from "../../../os/timers.ts";
import type { RegisteredSession } from "../../../providers/claude-code/registry.ts";
import type { ClaudeSocketParts, Sessions } from "../../../providers/claude-code/transports/socket/transport.ts";

/** What becomes of a message that is written to the socket. */
export type SocketFault = "answers and drops it" | "takes it and breaks off" | "is gone";

export interface SimulatedInboxParts {
  readonly timers: Timers;
  readonly give: (text: string) => void;
  readonly answerMs?: number;
  readonly fault?: () => SocketFault | null;
}

/** A Claude Code session that is open to others, as they see it: what it says of itself, and its inbox socket. */
export class SimulatedInbox {
  status: "idle" | "busy" = "idle";
  lives = true;
  readonly #watchers = new Set<() => void>();

  constructor(private readonly parts: SimulatedInboxParts) {}

  /** Its state changed. */
  tell(): void {
    for (const changed of [...this.#watchers]) changed();
  }

  readonly sessions: Sessions = {
    of: ({ sessionId }: Agent) => (this.lives && sessionId !== null ? sessionCalled(sessionId, this.status) : null),
    reportedState: () => (this.lives ? { state: this.status === "idle" ? "idle" : "working", reason: null } : null),
    acceptsPeers: () => true,
    watch: (_agent, changed) => {
      this.#watchers.add(changed);
      return { [Symbol.dispose]: () => void this.#watchers.delete(changed) };
    },
  };

  readonly write: NonNullable<ClaudeSocketParts["write"]> = async (path, { text }, signal) => {
    const { timers, give, answerMs = 1, fault } = this.parts;
    if (signal?.aborted) throw notTaken(path, false);
    await timers.pause(answerMs, signal);
    const happens = fault?.() ?? null;
    if (!this.lives || happens === "is gone") throw notTaken(path, true);
    if (happens !== "answers and drops it") give(text);
    if (happens === "takes it and breaks off") throw notTaken(path, false);
  };
}

const sessionCalled = (sessionId: string, status: RegisteredSession["status"]): RegisteredSession => ({
  ...{ pid: 1, sessionId, cwd: "/", status, pane: undefined, alive: true },
  messagingSocketPath: `/inbox/${sessionId}.sock`,
});

const notTaken = (socketPath: string, absent: boolean): TielineError =>
  new TielineError("DELIVERY_FAILED", `the inbox socket ${socketPath} took no message`, {
    remedy: "the session has exited; start it again",
    operands: { socketPath, absent },
  });
