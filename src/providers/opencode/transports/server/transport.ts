/**
 * The server inside of an opencode: text goes into the conversation without a keystroke, at idle as a new turn, in a
 * turn with what the model reads next. The user's draft and dialogs stay as they are.
 *
 * What joins a running turn stays in the conversation, unread, when the user interrupts. It counts as delivered once
 * the model has begun to answer behind it; if the turn ends before, it is taken back and waits again.
 */
import type { Agent } from "../../../../model/agent.ts";
import type { Outcome } from "../../../../model/delivery.ts";
import { envelope, type Envelope } from "../../../../model/envelope.ts";
import { asTielineError } from "../../../../model/errors.ts";
import type { Message } from "../../../../model/message.ts";
import { systemTimers, type Timers } from "../../../../os/timers.ts";
import { partId, type MessageProgress } from "../../conversation.ts";
import { opencodeLocatorOf, type OpencodeSessions } from "../../sessions.ts";
import { holdOf } from "../../../../agents/status/reportedState.ts";
import type { Attempt, Readiness, Transport } from "../../../../delivery/transports/port.ts";

export interface OpencodeServerParts {
  readonly sessions: Pick<
    OpencodeSessions,
    "reportedState" | "ask" | "sessionOf" | "request" | "began" | "relearn" | "progress" | "watch"
  >;
  /** How an agent runs `tieline`. */
  readonly command?: (agent: Agent) => string;
  readonly timers?: Timers;
}

const inlineLimit = 900_000;
/** A model that has not begun to answer after this time is waited for elsewhere. */
const answerMs = 3_000;
/** A turn that was just begun shows in the conversation after this time. */
const begunMs = 1_000;

export function opencodeServerTransport({ sessions, command, timers = systemTimers }: OpencodeServerParts): Transport {
  return {
    name: "opencode-server",
    traits: { bestProof: "transcript", authority: "user", rank: { atTurnEnd: 30, inTurn: 30, fromAgent: 70 } },
    envelopeOf: (message, agent) => envelopeOf(message, command?.(agent)),
    earliest: () => "tool",

    async ready({ agent, message }): Promise<Readiness> {
      if (sessions.reportedState(agent)?.state === "starting")
        return { kind: "held", hold: { reason: "starting", detail: `${agent.name} is starting` } };
      const reported = await sessions.ask(agent).catch(asTielineError);
      if (reported instanceof Error) return { kind: "gone", detail: reported.message };
      if (sessions.sessionOf(agent) === null && opencodeLocatorOf(agent)?.adopted)
        return { kind: "gone", detail: `nothing was said to ${agent.name} yet that would tell its conversation` };
      if (reported.state === "working" && message.when !== "turn") return { kind: "ready" };
      const hold = holdOf(agent, reported);
      return hold === null ? { kind: "ready" } : { kind: "held", hold };
    },

    async deliver(attempt, signal): Promise<Outcome> {
      const { agent, message } = attempt;
      const joins = sessions.reportedState(agent)?.state === "working" && !message.hard;
      try {
        const session = sessions.sessionOf(agent) ?? (await newSession(agent, signal));
        const to = (path: string, body: unknown) => sessions.request(agent, "POST", path, { body, signal });
        if (message.hard) await to(`/session/${session}/abort`, {});
        // The user sees what happens to the agent, also after having left the conversation.
        if (!joins) await to("/tui/select-session", { sessionID: session });
        // Before it is: a quick turn ends before the answer to this request is here.
        sessions.began(agent, session);
        await to(`/session/${session}/prompt_async`, {
          parts: [
            {
              id: partId(message.id, attempt.delivery.claimedAt ?? 0),
              type: "text",
              text: envelopeOf(message, command?.(agent)).text,
            },
          ],
        });
      } catch (thrown) {
        await sessions.relearn(agent);
        const { message: detail, operands } = asTielineError(thrown);
        return { kind: operands["refused"] === true ? "error" : "unknown", detail };
      }
      const progress = await settled(agent, message, joins ? ["waiting", "asked", "read"] : ["read"], signal);
      if (progress.kind === "read") return { kind: "delivered", proof: "transcript", ...degraded(message) };
      if (progress.kind === "absent") return { kind: "unknown", detail: "the conversation does not hold it yet" };
      if (joins && progress.kind === "waiting")
        return { kind: "unknown", detail: "it joined the running turn; the model has not read it yet" };
      return asked(progress);
    },

    async inspect({ agent, message, delivery }: Attempt): Promise<Outcome> {
      const progress = await progressNow(agent, message);
      if (progress === null) return { kind: "unknown", detail: "opencode does not answer" };
      if (progress.kind === "read") return { kind: "delivered", proof: "transcript", ...degraded(message) };
      if (progress.kind === "asked") return asked(progress);
      // It was given as a turn of its own, and what the user then did with that is the user's business.
      if (delivery.state === "delivered") return { kind: "unknown", detail: "the model has not read it yet" };
      if (!(await isAtRest(agent)))
        return { kind: "unknown", detail: "the turn continues, and the model has not read it yet" };
      const still = await progressNow(agent, message);
      if (still?.kind === "absent") return { kind: "absent", detail: "the conversation does not hold it" };
      if (still?.kind !== "waiting") return { kind: "unknown", detail: "the model has not read it yet" };
      await sessions.request(agent, "DELETE", `/session/${sessions.sessionOf(agent)}/message/${still.entry}`);
      return { kind: "absent", detail: "the turn ended before the model read it" };
    },

    watch: (agent, _endpoint, changed) => sessions.watch(agent, changed),
  };

  async function newSession(agent: Agent, signal: AbortSignal): Promise<string> {
    const { id } = await sessions.request<{ id: string }>(agent, "POST", "/session", { body: {}, signal });
    return id;
  }

  /** The first of these progresses, or what it was when the time was over. */
  async function settled(
    agent: Agent,
    message: Message,
    wanted: readonly MessageProgress["kind"][],
    signal: AbortSignal,
  ): Promise<MessageProgress> {
    const over = AbortSignal.any([signal, timers.timeout(answerMs)]);
    const bell = { ring: (): void => undefined };
    using _ = sessions.watch(agent, () => bell.ring());
    for (;;) {
      const rung = new Promise<void>((resolve) => (bell.ring = resolve));
      const progress = (await progressNow(agent, message)) ?? { kind: "absent" };
      if (wanted.includes(progress.kind) || over.aborted) return progress;
      await Promise.race([rung, timers.pause(200)]);
    }
  }

  /** null: the program does not answer, so that nothing is known. */
  function progressNow(agent: Agent, { id }: Message): Promise<MessageProgress | null> {
    return sessions.progress(agent, id).catch(() => null);
  }

  /** Twice in a row: a prompt that was just given shows neither in the conversation nor as work. */
  async function isAtRest(agent: Agent): Promise<boolean> {
    const rests = async (): Promise<boolean> => (await sessions.ask(agent).catch(() => null))?.state === "idle";
    if (!(await rests())) return false;
    await timers.pause(begunMs);
    return rests();
  }
}

/** The model reads a prompt as user; its first line says if an agent wrote it. */
export const envelopeOf = (message: Message, command?: string): Envelope =>
  envelope(message, { multiline: true, inlineLimit, command }, "user");

const asked = (progress: MessageProgress): Outcome => ({
  kind: "delivered",
  proof: "submitted",
  detail: "opencode has started a turn with it",
  ...("failure" in progress && progress.failure !== undefined && { failure: progress.failure }),
});

const degraded = ({ when, hard }: Message): { readonly detail?: string } =>
  when === "interrupt" && !hard
    ? { detail: "opencode cannot refuse a tool call; it arrived after the running one" }
    : {};
