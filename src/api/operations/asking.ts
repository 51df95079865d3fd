import { z } from "zod";
import type { Directory } from "../../agents/directory/directory.ts";
import type { Collected, Courier } from "../../delivery/courier.ts";
import type { Mailbox } from "../../mailbox/port.ts";
import { userId } from "../../model/agent.ts";
import type { Delivery } from "../../model/delivery.ts";
import type { AgentId, Clock } from "../../model/ids.ts";
import { wakes, type Message, type Sender } from "../../model/message.ts";
import { reached, type Receipt } from "../../model/receipt.ts";
import { messageCalled } from "../addressed.ts";
import type { Callers } from "../callers.ts";
import { operation } from "../operation.ts";
import type { Rights } from "../rights.ts";
import { InboxView } from "../schema.ts";
import { flag, messageTag, pollMs, reader, time } from "../schemas/fields.ts";
import { nextMail } from "../untilMail.ts";
import { inboxView, readerOf, type ViewParts } from "../views.ts";
import type { Waits } from "../waits.ts";
import type { Timers } from "../../os/timers.ts";

export interface AskingParts extends ViewParts {
  readonly callers: Callers;
  readonly mailbox: Mailbox;
  readonly rights: Rights;
  readonly waits: Waits;
  readonly courier: Courier;
  readonly directory: Directory;
  readonly clock: Clock;
  readonly timers: Pick<Timers, "timeout">;
}

export const askingOperations = [
  /**
   * Resolves when the message is answered, when it never can be, when the caller is asked first, or after the timeout
   * with none of these.
   */
  operation({
    name: "awaitAnswer",
    summary: "Wait for the answer to a message.",
    access: "message",
    input: z.object({
      tag: messageTag,
      timeoutMs: pollMs,
      questions: flag.optional().describe("return what agents ask the caller meanwhile; its own question stays open"),
    }),
    output: z.object({
      answer: z
        .object({
          tag: z.string(),
          from: z.string(),
          body: z.string(),
          at: time,
          reader,
          delivery: z
            .number()
            .int()
            .optional()
            .describe("set when this call took it out of the queue: say `collected` once it was shown"),
        })
        .nullable(),
      lost: z
        .object({ agent: z.string(), state: z.string(), reason: z.string().nullable() })
        .nullable()
        .describe("a delivery that can no longer be answered"),
      waiting: z.string().nullable().describe("why it was not delivered yet"),
      questions: z
        .array(InboxView)
        .describe("with `questions`: to be answered first. Say `collected` with each `delivery` once it was shown"),
      first: z
        .object({ tag: z.string(), from: z.string() })
        .nullable()
        .describe(
          "without `questions`: the question to the caller that has to be answered first, because its " +
            "asker waits for the caller",
        ),
    }),
    async run(parts: AskingParts, { tag, timeoutMs, questions: takesQuestions = false }, { caller, signal }) {
      const { callers, mailbox, rights, waits, courier, timers } = parts;
      const from = await callers.sender(caller);
      const question = messageCalled(tag, mailbox);
      const asked = mailbox.receipt(question.id)!.deliveries.map(({ agent }) => agent);
      const deliveries = (): readonly Delivery[] => rights.shown(from, mailbox.receipt(question.id)!).deliveries;
      const readableReply = (): Message | null => replyTo(parts, question, from);
      const over = AbortSignal.any([signal, timers.timeout(timeoutMs)]);
      const patience = AbortSignal.any([over, timers.timeout(circleMs)]);
      using _ = waits.enter(from.id, { question: question.id, asked }, takesQuestions);
      let questions: Collected["items"] = [];
      let first: Message | null = null;
      for (;;) {
        const change = nextMail(
          mailbox,
          ({ id, inReplyTo, expectsReply }) => expectsReply || [id, inReplyTo].includes(question.id),
          patience.aborted ? over : patience,
        );
        const isDecided = over.aborted || readableReply() !== null || deliveries().some(isLost);
        if (!isDecided && takesQuestions) questions = await questionsFor(parts, from);
        if (!isDecided && patience.aborted && deliveries().some(({ state }) => state === "queued"))
          first = mailbox.message(waits.before(from.id, asked) ?? "");
        if (isDecided || first !== null || questions.length > 0) break;
        await change;
      }
      const reply = readableReply();
      const lost = reply ? undefined : deliveries().find(isLost);
      const waiting = deliveries().find(({ state }) => state === "queued");
      return {
        answer: reply && {
          tag: reply.tag,
          from: reply.from.name,
          body: reply.body,
          at: reply.acceptedAt,
          reader: readerOf(from),
          ...(await taken(parts, reply, from.id)),
        },
        lost: lost ? { agent: lost.agentName, state: lost.state, reason: lost.detail } : null,
        waiting: waiting ? (waiting.detail ?? courier.holdOf(waiting.agent)?.detail ?? null) : null,
        questions: questions.map((item) => ({ ...inboxView(item, parts), delivery: item.delivery.id as number })),
        first: reply || first === null ? null : { tag: first.tag, from: first.from.name },
      };
    },
  }),
] as const;

/**
 * What agents ask the one that waits, together with what they wrote to it before: they would wait for each other. The
 * user's own questions come when it is idle, as the user's words.
 */
async function questionsFor(parts: AskingParts, { id }: Sender): Promise<Collected["items"]> {
  const { directory, mailbox, courier } = parts;
  const agent = directory.agent(id);
  if (agent === null || agent.kind === "user") return [];
  const mail = mailbox.inbox(id, { pending: true, oldest: true, limit: 1_000 });
  const asks = mail.filter(
    ({ message, delivery }) => delivery.state === "queued" && message.expectsReply && message.from.id !== userId,
  );
  const askers = new Set(asks.map(({ message }) => message.from.id));
  if (askers.size === 0) return [];
  return (
    await courier.collect(agent, { transport: "pull", authority: "peer", take: ({ from }) => askers.has(from.id) })
  ).items;
}

/**
 * The first reply of a recipient; acks and bounces are not replies. The author of the question gets any of them.
 * Another recipient of the question gets only a reply that it may read.
 */
function replyTo(parts: AskingParts, question: Message, reader: Sender): Message | null {
  const { mailbox, rights } = parts;
  const asked = new Set(mailbox.receipt(question.id)!.deliveries.map(({ agent }) => agent));
  const thread = mailbox.log({ thread: question.thread, after: question.id, limit: Number.MAX_SAFE_INTEGER });
  const answers = ({ inReplyTo, from, kind }: Message): boolean =>
    inReplyTo === question.id && asked.has(from.id) && wakes(kind);
  const isReadable = (receipt: Receipt): boolean =>
    reader.id === question.from.id || rights.readsMessage(reader, receipt);
  return thread.find((receipt) => answers(receipt.message) && isReadable(receipt))?.message ?? null;
}

/** The asker reads the answer here, so that it need not come by another way as well. */
async function taken(parts: AskingParts, reply: Message, reader: AgentId): Promise<{ delivery?: number }> {
  const { mailbox } = parts;
  const own = mailbox.receipt(reply.id)!.deliveries.find(({ agent, state }) => agent === reader && state === "queued");
  const claimed = own && (await mailbox.claim(own.id, { lane: "pull", now: parts.clock(), transport: "pull" }));
  return claimed ? { delivery: claimed.id } : {};
}

/** How long agents may seem to wait for each other: one that reads between two messages will read on. */
const circleMs = 1_000;

const isLost = (delivery: Delivery): boolean => reached(delivery, "answered") === "never";
