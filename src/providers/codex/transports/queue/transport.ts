/**
 * Codex's own durable queue, for a Codex on its own whose prompt is not free: the draft is left as it is, and
 * the words run as a turn of their own within some ten seconds. In a turn nothing is queued: an interrupt would leave
 * it in the queue until the user's next turn, while mail that waits with us comes when the prompt is free.
 */
import type { Agent } from "../../../../model/agent.ts";
import type { HoldReason, Outcome } from "../../../../model/delivery.ts";
import { envelope, type Envelope } from "../../../../model/envelope.ts";
import { elapsedFor, type AgentId, type Clock } from "../../../../model/ids.ts";
import type { Message } from "../../../../model/message.ts";
import { isRecorded, type Rollout, type RolloutReading } from "../../rollout.ts";
import { codexQueueOf, type CodexQueue } from "../../queue.ts";
import { codexMentions } from "../../terminal.ts";
import type { ProbingTransport, Readiness, Transport } from "../../../../delivery/transports/port.ts";
import { endpointKind } from "../../../../delivery/transports/endpointKind.ts";

export const codexQueueKind = endpointKind("codex-queue", {});

export interface CodexQueueParts extends RolloutReading {
  /** Tells what speaks against typing into the agent's pane. */
  readonly pane: Pick<ProbingTransport, "probe">;
  readonly queueOf?: (agent: Agent) => CodexQueue | null;
  /** How an agent runs `tieline`. */
  readonly command?: (agent: Agent) => string;
  readonly clock?: Clock;
}

/** What a user leaves in the way, although the program is at rest. */
const inTheWay: ReadonlySet<HoldReason> = new Set(["draft", "copy-mode"]);
/** A command line takes 128 KiB. */
const inlineLimit = 100_000;
/**
 * Codex looks into its queue every ten seconds; what it has not taken by then, it will not take before the next turn.
 */
const takenMs = 15_000;

export function codexQueueTransport(parts: CodexQueueParts): Transport {
  const { pane, queueOf = codexQueueOf, command, clock } = parts;
  const elapsed = elapsedFor(clock);
  const last = new Map<AgentId, { readonly message: Message; readonly rollout: Rollout; readonly at: number }>();

  return {
    name: codexQueueKind.transport,
    traits: { bestProof: "transcript", authority: "user", rank: { atTurnEnd: 50, inTurn: 70, fromAgent: 80 } },
    envelopeOf: envelopeFor,

    async ready({ agent }): Promise<Readiness> {
      const queue = queueOf(agent);
      if (queue === null) return noQueue(agent);
      // What was queued a moment ago comes first, also when the prompt is free by now.
      if (await waits(agent)) return { kind: "ready", observed: queue };
      const endpoint = agent.endpoints.find(({ transport }) => transport === "tmux");
      const prompt = endpoint && (await pane.probe(agent, endpoint));
      if (prompt?.kind === "held" && inTheWay.has(prompt.hold.reason)) return { kind: "ready", observed: queue };
      return { kind: "gone", detail: "its prompt is the shorter way" };
    },

    async deliver({ agent, message, observed }, signal): Promise<Outcome> {
      const queue = (observed as CodexQueue | undefined) ?? queueOf(agent);
      if (queue === null) return noQueue(agent);
      const refusal = await queue.add(envelopeFor(message, agent).text, signal);
      if (refusal !== null)
        return signal.aborted
          ? { kind: "unknown", detail: "it may be in Codex's queue" }
          : { kind: "error", detail: refusal };
      last.set(agent.id, { message, rollout: queue.transcript, at: elapsed() });
      return { kind: "delivered", proof: "written", detail: "it is in Codex's queue" };
    },

    async inspect({ agent, message }): Promise<Outcome> {
      const queue = queueOf(agent);
      if (queue !== null && (await isRecorded(queue.transcript, message, parts)))
        return { kind: "delivered", proof: "submitted", detail: "the conversation holds it" };
      return { kind: "unknown", detail: "it may be in Codex's queue" };
    },

    // The pane is watched anyway, and tells when something is in the way.
    watch: () => ({ [Symbol.dispose]: () => undefined }),
  };

  function envelopeFor(message: Message, agent: Agent): Envelope {
    return envelope(
      message,
      { multiline: true, inlineLimit, escaped: codexMentions, command: command?.(agent) },
      "user",
    );
  }

  async function waits({ id }: Agent): Promise<boolean> {
    const queued = last.get(id);
    if (queued === undefined) return false;
    if (elapsed() - queued.at < takenMs && !(await isRecorded(queued.rollout, queued.message, parts))) return true;
    last.delete(id);
    return false;
  }
}

const noQueue = ({ name }: Agent) => ({ kind: "gone", detail: `${name} has no queue` }) as const;
