/**
 * An urgent message arrives before the next tool call: the call is refused, and the refusal is the message. A model
 * may have asked for several calls at once, so every call is refused until the main thread asks its model again.
 * Subagents are stopped as well, but the main thread does not read what they get: it does not count as delivered.
 */
import type { Collected, Courier } from "../../courier.ts";
import type { Mailbox } from "../../../mailbox/port.ts";
import type { Agent } from "../../../model/agent.ts";
import type { Delivery } from "../../../model/delivery.ts";
import { notesOn, type Envelope } from "../../../model/envelope.ts";
import type { AgentId, Clock, DeliveryId, MessageId } from "../../../model/ids.ts";
import type { Message } from "../../../model/message.ts";
import { Ages } from "../../../os/ages.ts";
import { systemTimers, type Timers } from "../../../os/timers.ts";
import { describeTool, type HookCall } from "../../../providers/hooks/hookCall.ts";
import type { HandlerAnswer, HookHandler } from "../../../providers/hooks/hookHandler.ts";
import type { HookText } from "./hookText.ts";

export interface UrgencyParts {
  readonly courier: Pick<Courier, "collect">;
  readonly mailbox: Pick<Mailbox, "inbox">;
  readonly text: HookText;
  /** For programs without an event at the end of a batch: has the model been asked again since a call was refused? */
  readonly hasReadRefusal?: (agent: Agent, call: HookCall, refused: Refused) => Promise<boolean>;
  readonly clock?: Clock;
  readonly timers?: Pick<Timers, "after">;
}

/** The call that was refused first, by its id where the program gives it one, and the text that its model got. */
export interface Refused {
  readonly firstCall: string;
  readonly words: string;
}

export interface Urgency {
  /** Refuses calls until the model has read why. */
  readonly guard: HookHandler;
  readonly observers: readonly HookHandler[];
  /** Whether the calls of this agent are refused until its main thread has read why. */
  isRefusing(agent: AgentId): boolean;
  /** The calls that a message stopped, once the batch of calls is over; undefined when it stopped none. */
  stoppedBy(delivery: DeliveryId): Promise<string | undefined>;
}

/** A longer text is in one refusal of a batch only. */
const repeatedLength = 10_000;
/** More than a summary takes. */
const summaryBytes = 1_000;
/** How long a receipt waits for the end of the batch. */
const batchMs = 5_000;
/** A message that went another way a moment ago stops calls too, until it is known to be read or this time is over. */
export const underwayMs = 10_000;

export function whenInterrupt(parts: UrgencyParts): Urgency {
  const { courier, mailbox, text, hasReadRefusal = async () => false, clock, timers = systemTimers } = parts;
  const ages = new Ages(clock);
  const refusals = new Map<AgentId, OngoingRefusal>();
  const stopped = new Map<DeliveryId, OngoingRefusal>();
  const turns = new Map<AgentId, Promise<unknown>>();

  const guard: HookHandler = {
    name: "urgent mail stops the call",
    events: ["PreToolUse"],
    kind: "guard",
    // The calls of a batch may ask at the same moment; the second must find what the first took.
    handle: (call, agent) =>
      oneAtATime(agent.id, () => (call.subagent === null ? stopMain(call, agent) : stopSubagent(call, agent))),
  };

  const batchEnds: HookHandler = {
    name: "refused calls are answered",
    events: ["PostToolBatch"],
    kind: "observer",
    async handle(call, agent) {
      if (call.subagent === null) refusals.get(agent.id)?.endBatch();
      return undefined;
    },
  };

  const turnEnds: HookHandler = {
    name: "the main thread continued",
    events: ["Stop", "UserPromptSubmit", "SessionStart", "SessionEnd"],
    kind: "observer",
    async handle(call, agent) {
      if (call.subagent === null) lift(agent.id);
      return undefined;
    },
  };

  return {
    guard,
    observers: [batchEnds, turnEnds],
    isRefusing: (agent) => refusals.has(agent),
    async stoppedBy(delivery) {
      const refusal = stopped.get(delivery);
      stopped.delete(delivery);
      return refusal?.ended(batchMs, timers);
    },
  };

  async function stopMain(call: HookCall, agent: Agent): Promise<HandlerAnswer | undefined> {
    // The batch is over and here is another call: the model has been asked in between, and has read the refusal.
    const before = refusals.get(agent.id);
    if (before && (before.batchOver || (await hasReadRefusal(agent, call, before)))) lift(agent.id);
    const collected = await courier.collect(agent, { transport: "hook", authority: "peer", whens: ["interrupt"] });
    if (collected.items.length > 0) return refuse(call, agent, collected);
    const refusal = refusals.get(agent.id);
    if (refusal) return refusal.refuse(call);
    // What a hook gave the main thread has read, or its refusal is over.
    const [underway] = unread(agent).filter(
      ({ delivery }) => delivery.state !== "queued" && delivery.transport !== "hook",
    );
    if (underway)
      return {
        refusal:
          `The urgent message ${underway.message.tag} from ${underway.message.from.name} is about to ` +
          "reach you. Read it before you continue.",
      };
    return undefined;
  }

  function refuse(call: HookCall, agent: Agent, collected: Collected): HandlerAnswer {
    const sent = fitted(
      collected.items.map(({ message }) => message),
      call,
      agent,
    );
    const words = [...sent.values()].map((envelope) => envelope.text).join("\n\n");
    const refusal = refusals.get(agent.id) ?? new OngoingRefusal();
    refusal.begin(
      words,
      collected.items.map(({ message }) => message.tag),
    );
    refusals.set(agent.id, refusal);
    for (const { delivery } of collected.items) stopped.set(delivery.id, refusal);
    return {
      ...refusal.refuse(call),
      written: () =>
        collected.flushed(({ id }) => ({
          kind: "delivered",
          proof: "submitted",
          detail: refusal.told(),
          notes: notesOn(sent.get(id)!),
        })),
      async lost() {
        lift(agent.id);
        await collected.flushed({
          kind: "held",
          hold: { reason: "busy", detail: "the hook went away before it was answered" },
        });
      },
    };
  }

  /** The whole text must be in the one refusal; a message that does not fit after the others is summarized. */
  function fitted(messages: readonly Message[], call: HookCall, agent: Agent): ReadonlyMap<MessageId, Envelope> {
    let room = call.dialect.refusalLimit;
    const sent = new Map<MessageId, Envelope>();
    for (const [at, message] of messages.entries()) {
      const envelope = text(message, call, agent, room - (messages.length - at - 1) * summaryBytes);
      room -= Buffer.byteLength(envelope.text) + 2;
      sent.set(message.id, envelope);
    }
    return sent;
  }

  async function stopSubagent(call: HookCall, agent: Agent): Promise<HandlerAnswer | undefined> {
    const refusal = refusals.get(agent.id);
    const [waiting] = unread(agent);
    if (refusal === undefined && waiting === undefined) return undefined;
    const words = refusal?.words ?? text(waiting!.message, call, agent, call.dialect.refusalLimit).text;
    return {
      refusal: `${words}\n\nThis is for the main thread, which will decide. Stop here and report what you have.`,
    };
  }

  /** Urgent mail that the model is not yet known to have read. */
  function unread(agent: Agent) {
    const recent = ({ id, claimedAt }: Delivery): boolean => ages.of(String(id), claimedAt ?? 0) < underwayMs;
    return mailbox
      .inbox(agent.id, { when: ["interrupt"], limit: 20 })
      .filter(
        ({ delivery }) =>
          delivery.state === "queued" ||
          (["claimed", "delivered", "uncertain"].includes(delivery.state) && recent(delivery)),
      );
  }

  function lift(agent: AgentId): void {
    refusals.get(agent)?.endBatch();
    refusals.delete(agent);
  }

  async function oneAtATime<T>(agent: AgentId, run: () => Promise<T>): Promise<T> {
    const before = turns.get(agent) ?? Promise.resolve();
    const mine = before.then(run, run);
    // The caller gets the result below; the next one only waits its turn.
    const settled = mine.catch(() => undefined);
    turns.set(agent, settled);
    try {
      return await mine;
    } finally {
      if (turns.get(agent) === settled) turns.delete(agent);
    }
  }
}

/** The refusal of a batch of calls because of one message. */
class OngoingRefusal {
  words = "";
  batchOver = false;
  /** The id of the first call that it refused. */
  firstCall = "";
  private tags: readonly string[] = [];
  private saidWords = false;
  private readonly calls: string[] = [];
  private readonly end = Promise.withResolvers<void>();

  /** What was stopped, once the batch is over, or as far as it is known by then. */
  async ended(patienceMs: number, timers: Pick<Timers, "after">): Promise<string> {
    using _patience = timers.after(patienceMs, () => this.end.resolve());
    await this.end.promise;
    return this.told();
  }

  /** With the words of these messages. */
  begin(words: string, tags: readonly string[]): void {
    [this.words, this.tags, this.saidWords] = [words, tags, false];
  }

  refuse({ tool }: HookCall): HandlerAnswer {
    if (tool) this.calls.push(describeTool(tool));
    this.firstCall ||= tool?.id ?? "";
    // The model reads the refusals of a batch together.
    if (this.saidWords && this.words.length > repeatedLength)
      return {
        refusal: `Not run: urgent mail came first. Read ${this.tags.join(", ")} in the refusal of the call before.`,
      };
    this.saidWords = true;
    return { refusal: this.words };
  }

  told(): string {
    return `stopped ${this.calls.join(", ")}`;
  }

  endBatch(): void {
    this.batchOver = true;
    this.end.resolve();
  }
}
