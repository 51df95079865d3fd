/**
 * Claude Code's own inbox socket: text goes to the session without a keystroke, at idle as a new turn and in a turn
 * with the next tool result. The session counts it as the word of a peer. Only where the user has opened the
 * session to others (`crossSessionInbound: "accept"`).
 */
import type { Agent } from "../../../../model/agent.ts";
import type { Outcome } from "../../../../model/delivery.ts";
import { envelope, type Envelope } from "../../../../model/envelope.ts";
import { asTielineError } from "../../../../model/errors.ts";
import type { Message } from "../../../../model/message.ts";
import { writeToInbox } from "../../inboxSocket.ts";
import type { RegisteredSession } from "../../registry.ts";
import { heldBy, type ReportedState } from "../../../../agents/status/reportedState.ts";
import type { Readiness, Transport } from "../../../../delivery/transports/port.ts";
import { foundInRecord, type SessionRecord } from "../../../../delivery/transports/sessionRecord.ts";
import { endpointKind } from "../../../../delivery/transports/endpointKind.ts";

/** The part of what we know of Claude Code's sessions that this way needs. */
export interface Sessions {
  of(agent: Agent): RegisteredSession | null;
  reportedState(agent: Agent): ReportedState | null;
  acceptsPeers(session: RegisteredSession): boolean;
  watch(agent: Agent, changed: () => void): Disposable;
}

export interface ClaudeSocketParts extends SessionRecord {
  readonly sessions: Sessions;
  /** Whether the session's hooks can stop a tool call for an urgent message. */
  readonly hooksReach: (agent: Agent) => boolean;
  /** How an agent runs `tieline`. */
  readonly command?: (agent: Agent) => string;
  /** A socket of ours beside the session's, for its receipts and answers; null: there is none. */
  readonly replyPath?: (session: RegisteredSession, agent: Agent) => Promise<string | null>;
  /** Writes one message to the session's socket. */
  readonly write?: typeof writeToInbox;
}

/** Bytes that go whole. */
const inlineLimit = 900_000;

export const claudeSocketKind = endpointKind("claude-socket", {});
export const claudeSocketEndpoint = claudeSocketKind.make({});

export function claudeSocketTransport({
  sessions,
  hooksReach,
  command,
  replyPath = async () => null,
  write = writeToInbox,
  ...record
}: ClaudeSocketParts): Transport {
  return {
    name: claudeSocketKind.transport,
    traits: { bestProof: "transcript", authority: "peer", rank: { atTurnEnd: 70, inTurn: 50, fromAgent: 30 } },
    envelopeOf: envelopeFor,
    earliest: (agent) => (typeof openSocket(agent) === "string" ? null : "tool"),

    async ready({ agent, message }): Promise<Readiness> {
      const session = openSocket(agent);
      if (typeof session === "string") return { kind: "gone", detail: session };
      const reported = sessions.reportedState(agent);
      if (reported === null || reported.state === "unknown")
        return { kind: "held", hold: { reason: "unreadable", detail: `${agent.name} does not say what it does` } };
      return reported.state === "working" && joinsTurn(message, hooksReach(agent))
        ? { kind: "ready", observed: session }
        : readyAtIdle(agent, reported, session);
    },

    async deliver({ agent, message, observed }, signal): Promise<Outcome> {
      const session = (observed as RegisteredSession | undefined) ?? sessions.of(agent);
      if (!session?.messagingSocketPath) return { kind: "gone", detail: `${agent.name} has no inbox socket any more` };
      const { text } = envelopeFor(message, agent);
      const back = await replyPath(session, agent);
      try {
        await write(
          session.messagingSocketPath,
          { text, messageId: message.id, priority: message.hard ? "now" : "next", ...(back && { replyPath: back }) },
          signal,
        );
      } catch (thrown) {
        const error = asTielineError(thrown);
        if (error.operands["absent"]) return { kind: "gone", detail: error.message };
        return { kind: "unknown", detail: error.message };
      }
      return { kind: "delivered", proof: "written", detail: "the session took it from its inbox socket" };
    },

    inspect: ({ agent, message }) => foundInRecord(agent, message, "written", record),

    watch: (agent, _endpoint, changed) => sessions.watch(agent, changed),
  };

  /** The session, or why its socket takes nothing. */
  function openSocket(agent: Agent): RegisteredSession | string {
    const session = sessions.of(agent);
    if (session === null) return `${agent.name} is not registered as a Claude Code session`;
    if (session.messagingSocketPath === undefined)
      return `this version of Claude Code (${session.version ?? "unknown"}) has no inbox socket`;
    if (!openedByLaunch(agent) && !sessions.acceptsPeers(session))
      return "the session is not open to other sessions; `tieline setup --hooks claude` opens it";
    return session;
  }

  function envelopeFor(message: Message, agent: Agent): Envelope {
    return envelope(message, { multiline: true, inlineLimit, command: command?.(agent) }, "peer");
  }
}

/**
 * In the middle of a turn hooks bring what is meant for it, sooner and in order; the session puts what it has from its
 * socket behind that. So the socket serves where no hook does, and where a running reply is to be cut.
 */
function joinsTurn({ when, hard }: Message, hooked: boolean): boolean {
  return hard || (when !== "turn" && !hooked);
}

function readyAtIdle(agent: Agent, reported: ReportedState, session: RegisteredSession): Readiness {
  return heldBy(agent, reported) ?? { kind: "ready", observed: session };
}

/** Agents that we start are opened by the settings that they are started with. */
const openedByLaunch = (agent: Agent): boolean => agent.launch?.["openToPeers"] === true;
