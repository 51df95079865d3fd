/**
 * Tieline's extension inside of a pi: text goes into the conversation without a keystroke, at idle as a new turn, in a
 * turn with what the model reads next. Urgent mail also stops the calls that come before it. The user's draft stays.
 *
 * pi throws away what it has queued when the user interrupts, so what joins a turn counts as delivered only once the
 * model answers behind it.
 */
import type { Agent } from "../../../../model/agent.ts";
import type { Outcome } from "../../../../model/delivery.ts";
import { envelope, type Envelope } from "../../../../model/envelope.ts";
import { asTielineError } from "../../../../model/errors.ts";
import type { Message } from "../../../../model/message.ts";
import { systemTimers, type Timers } from "../../../../os/timers.ts";
import type { PiFinding } from "../../extension.ts";
import type { PiSessions } from "../../sessions.ts";
import { holdOf } from "../../../../agents/status/reportedState.ts";
import type { Attempt, Readiness, Transport } from "../../../../delivery/transports/port.ts";

export interface PiExtensionParts {
  readonly sessions: Pick<PiSessions, "reportedState" | "ask" | "call" | "watch">;
  readonly timers?: Timers;
}

const inlineLimit = 900_000;
/** A model that has not begun to answer after this time is waited for elsewhere. */
const answerMs = 3_000;

export function piExtensionTransport({ sessions, timers = systemTimers }: PiExtensionParts): Transport {
  return {
    name: "pi-extension",
    traits: { bestProof: "transcript", authority: "user", rank: { atTurnEnd: 40, inTurn: 40, fromAgent: 20 } },
    envelopeOf,
    earliest: () => "interrupt",

    async ready({ agent, message }): Promise<Readiness> {
      if (sessions.reportedState(agent)?.state === "starting")
        return { kind: "held", hold: { reason: "starting", detail: `${agent.name} is starting` } };
      const reported = await sessions.ask(agent).catch(asTielineError);
      if (reported instanceof Error) return { kind: "gone", detail: reported.message };
      if (reported.state === "working" && message.when !== "turn") return { kind: "ready" };
      const hold = holdOf(agent, reported);
      return hold === null ? { kind: "ready" } : { kind: "held", hold };
    },

    async deliver({ agent, message }, signal): Promise<Outcome> {
      const { id, tag, when, hard } = message;
      let finding: PiFinding;
      try {
        finding = await sessions.call(
          agent,
          { deliver: { id, tag, text: envelopeOf(message).text, urgent: when === "interrupt", hard } },
          signal,
        );
      } catch (thrown) {
        return { kind: "unknown", detail: asTielineError(thrown).message };
      }
      return outcomeOf(finding.progress === "asked" ? await answered(agent, message, signal) : finding);
    },

    async inspect({ agent, message }: Attempt): Promise<Outcome> {
      const finding = await sessions.call(agent, { find: message.id }).catch(() => null);
      return finding === null ? { kind: "unknown", detail: "pi does not answer" } : outcomeOf(finding);
    },

    watch: (agent, _endpoint, changed) => sessions.watch(agent, changed),
  };

  /** Its outcome once the model has started to answer, or after the timeout. */
  async function answered(agent: Agent, { id }: Message, signal: AbortSignal): Promise<PiFinding> {
    const over = AbortSignal.any([signal, timers.timeout(answerMs)]);
    const bell = { ring: (): void => undefined };
    using _ = sessions.watch(agent, () => bell.ring());
    for (;;) {
      const rung = new Promise<void>((resolve) => (bell.ring = resolve));
      const finding = await sessions.call(agent, { find: id }, signal).catch(() => null);
      if (finding !== null && (finding.progress !== "asked" || over.aborted)) return finding;
      if (over.aborted) return { progress: "asked", stopped: [] };
      await Promise.race([rung, timers.pause(200)]);
    }
  }
}

function outcomeOf({ progress, stopped, failure }: PiFinding): Outcome {
  const detail = stopped.length === 0 ? {} : { detail: `stopped ${stopped.join(", ")}` };
  switch (progress) {
    case "read":
      return { kind: "delivered", proof: "transcript", ...detail };
    case "asked":
      return {
        kind: "delivered",
        proof: "submitted",
        detail: "pi has started a turn with it",
        ...(failure !== undefined && { failure }),
      };
    case "waiting":
      return { kind: "unknown", detail: "it joined the running turn; the model has not read it yet" };
    case "absent":
      return { kind: "absent", detail: "the turn ended before the model read it" };
  }
}

/** The model reads it as user; its first line says if an agent wrote it. */
export const envelopeOf = (message: Message): Envelope => envelope(message, { multiline: true, inlineLimit }, "user");
