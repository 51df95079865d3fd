import type { Switch } from "../../compose.ts";
import type { Delivery } from "../../model/delivery.ts";
import type { AgentId } from "../../model/ids.ts";
import { wakes, type Message } from "../../model/message.ts";
import { reached } from "../../model/receipt.ts";
import type { Callers } from "../callers.ts";
import { messageCalled } from "../addressed.ts";
import type { Operations } from "../http.ts";
import { readerOf } from "../views.ts";
import { untilMail } from "../untilMail.ts";

export function askingOperations(tieline: Switch, callers: Callers): Pick<Operations, "answer"> {
  const { mailbox } = tieline;

  return {
    async answer({ tag, timeoutMs }, { caller, signal }) {
      const from = await callers.sender(caller);
      const question = messageCalled(tag, mailbox);
      const isDecided = (): boolean => replyTo(question) !== null || mailbox.receipt(question.id)!.deliveries.some(isLost);
      await untilMail(mailbox, ({ id, inReplyTo }) => [id, inReplyTo].includes(question.id), isDecided, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
      const reply = replyTo(question);
      const deliveries = mailbox.receipt(question.id)!.deliveries;
      const lost = reply ? undefined : deliveries.find(isLost);
      const waiting = deliveries.find(({ state }) => state === "queued");
      return {
        answer: reply && { tag: reply.tag, from: reply.from.name, body: reply.body, at: reply.acceptedAt, reader: readerOf(from), ...(await taken(reply, from.id)) },
        lost: lost ? { agent: lost.agentName, state: lost.state, reason: lost.detail } : null,
        waiting: waiting ? (waiting.detail ?? tieline.courier.holdOf(waiting.agent)?.detail ?? null) : null,
      };
    },
  };

  /** The first that one of the recipients wrote; acks and bounces are no answers. */
  function replyTo(question: Message): Message | null {
    const asked = new Set(mailbox.receipt(question.id)!.deliveries.map(({ agent }) => agent));
    const thread = mailbox.log({ thread: question.thread, since: question.acceptedAt, limit: Number.MAX_SAFE_INTEGER });
    const answers = ({ inReplyTo, from, kind }: Message): boolean => inReplyTo === question.id && asked.has(from.id) && wakes(kind);
    return thread.map(({ message }) => message).find(answers) ?? null;
  }

  /** The asker reads the answer here, so that it need not come by another way as well. */
  async function taken(reply: Message, reader: AgentId): Promise<{ delivery?: number }> {
    const own = mailbox.receipt(reply.id)!.deliveries.find(({ agent, state }) => agent === reader && state === "queued");
    const claimed = own && (await mailbox.claim(own.id, { lane: "boundary", now: Date.now(), transport: "pull" }));
    return claimed ? { delivery: claimed.id } : {};
  }
}

const isLost = (delivery: Delivery): boolean => reached(delivery, "answered") === "never";
