/**
 * A session whose hooks call us. In a turn they ask for the mail themselves, which is the pull lane; this is the
 * other half: waking an idle session without a keystroke, by ringing the waiter that its hooks have left behind.
 */
import { z } from "zod";
import type { Agent, AgentState, Endpoint } from "../../../model/agent.ts";
import type { Outcome } from "../../../model/delivery.ts";
import { envelope, type Envelope } from "../../../model/envelope.ts";
import type { Message } from "../../../model/message.ts";
import type { Readiness, Transport } from "../port.ts";
import { foundInRecord, type SessionRecord } from "../sessionRecord.ts";
import { endpointKind } from "../endpointKind.ts";
import type { HookWaiters } from "./waiters.ts";

export interface HookTransportParts extends SessionRecord {
  readonly waiters: HookWaiters;
  /** What the program says that it does; null: it says nothing. */
  readonly reportedState: (agent: Agent) => { readonly state: AgentState; readonly forMs?: number } | null;
  readonly watchState: (agent: Agent, changed: () => void) => Disposable;
  /** How an agent runs `tieline`. */
  readonly command?: (agent: Agent) => string;
}

/** Claude Code cuts what a waiting hook says at 100,000 characters. */
const inlineLimit = 90_000;
/** No event announces that a waiter has exited. */
const endingMs = 100;

/** Of a session whose hooks have called us. */
export const hookKind = endpointKind("hook", { sessionId: z.string().exactOptional() });
export const hookEndpoint = (sessionId: string): Endpoint => hookKind.make({ sessionId });

export function hookTransport({
  waiters,
  reportedState,
  watchState,
  command,
  ...record
}: HookTransportParts): Transport {
  return {
    name: hookKind.transport,
    traits: {
      bestProof: "transcript",
      authority: "peer",
      rank: { atTurnEnd: 80, inTurn: 60, fromAgent: 40 },
      fetched: true,
    },
    envelopeOf: envelopeFor,
    earliest: (agent) => (hooksReach(agent, waiters) ? "interrupt" : null),

    async ready({ agent }): Promise<Readiness> {
      if (!hooksReach(agent, waiters)) return { kind: "gone", detail: `no hook of ${agent.name} calls Tieline` };
      const session = sessionOf(agent);
      const reported = reportedState(agent);
      // The waiter of a session that was killed outlives it, and would lose the mail.
      if (reported === null) return { kind: "gone", detail: `${agent.name} does not say that it lives` };
      if (reported.state !== "idle") {
        const hold = { reason: "busy", detail: `${agent.name} is ${reported.state}; its hooks ask for mail` } as const;
        return { kind: "held", hold, ...(reported.forMs !== undefined && { againInMs: reported.forMs }) };
      }
      if (session === null || !waiters.isHeard(session))
        return { kind: "gone", detail: "no hook of the session waits for mail" };
      // A waiter that has taken mail still holds its bell until it ends, but reads it no more.
      if (!waiters.isReading(session))
        return {
          kind: "held",
          hold: { reason: "busy", detail: `a hook brings ${agent.name} earlier mail` },
          againInMs: endingMs,
        };
      return { kind: "ready" };
    },

    async deliver({ agent, message, delivery }, signal): Promise<Outcome> {
      const session = sessionOf(agent);
      if (session === null) return { kind: "gone", detail: "the session has exited" };
      const mail = waiters.give(session, delivery.id, envelopeFor(message, agent).text);
      if (mail === null) return { kind: "gone", detail: "no hook of the session waits for mail" };
      await mail.taken(signal);
      return mail.takeBack()
        ? { kind: "held", hold: { reason: "busy", detail: "the session's waiting hook did not answer" } }
        : { kind: "delivered", proof: "submitted", detail: "a hook of the session took it" };
    },

    inspect: ({ agent, message }) => foundInRecord(agent, message, "submitted", record),

    watch(agent, _endpoint, changed) {
      const state = watchState(agent, changed);
      const bells = waiters.watch(changed);
      return {
        [Symbol.dispose]() {
          state[Symbol.dispose]();
          bells[Symbol.dispose]();
        },
      };
    },
  };

  function envelopeFor(message: Message, agent: Agent): Envelope {
    return envelope(message, { multiline: true, inlineLimit, command: command?.(agent) }, "peer");
  }
}

/** The name of its bell. */
const sessionOf = ({ sessionId }: Agent): string | null =>
  sessionId !== null && /^[\w-]+$/.test(sessionId) ? sessionId : null;

/** Whether the session's hooks reach us: it was started with them, they have called, or one of them waits for mail. */
export function hooksReach(agent: Agent, waiters: Pick<HookWaiters, "hasBell">): boolean {
  const session = sessionOf(agent);
  return (
    agent.launch?.["openToPeers"] === true ||
    (session !== null && waiters.hasBell(session)) ||
    agent.endpoints.filter(hookKind.is).some(({ locator }) => locator.sessionId === agent.sessionId)
  );
}
