/** What agents ask the user to approve, and the answers. */
import type { Switch } from "../../compose/index.ts";
import { stop } from "../../agents/stop/end.ts";
import { userId, userName } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import type { MessageId } from "../../model/ids.ts";
import type { Message, Sender } from "../../model/message.ts";
import type { Receipt } from "../../model/receipt.ts";
import type { TeamResponse } from "../../providers/nativeTeams.ts";
import { messageCalled } from "../addressed.ts";
import type { Callers } from "../callers.ts";
import type { Operations } from "../../daemon/http.ts";
import { openRequestIn, receiptView, responseIn } from "../views.ts";

/** How far back in the user's mail open requests are looked for. */
const lookBack = 1_000;

export function requestOperations(tieline: Switch, callers: Callers): Pick<Operations, "requests" | "answerRequest"> {
  const { mailbox, router, directory, protocol } = tieline;
  /** Requests that are being answered now: two answers at once must not both go out. */
  const busy = new Set<MessageId>();

  return {
    async requests(_, { caller }) {
      await callers.sender(caller);
      return mailbox.inbox(userId, { limit: lookBack }).flatMap(({ message }) => {
        const request = openRequestIn(message, tieline);
        const { tag, from, team, acceptedAt: at } = message;
        return request ? [{ ...request, tag, from: from.name, team, at }] : [];
      });
    },

    async answerRequest({ tag, approve, text }, { caller }) {
      const from = await callers.allow(caller, "answer");
      const request = messageCalled(tag, mailbox);
      const response =
        request.to === userName
          ? protocol.responseTo(request, { approve, text: text?.trim() || null }, tieline.clock())
          : null;
      if (response === null) throw asksNothing(request);
      if (busy.has(request.id)) throw beingAnswered(request);
      busy.add(request.id);
      try {
        const receipt = earlierAnswer(request, response) ?? (await answer(request, response, from, approve));
        await conclude(request, response, from);
        return receiptView(receipt, tieline);
      } finally {
        busy.delete(request.id);
      }
    },
  };

  /** Answers once; the same answer again is the one that was given. */
  function earlierAnswer(request: Message, response: TeamResponse): Receipt | null {
    const given = responseIn(request, tieline);
    if (given === null || protocol.sameResponse(given.message.body, response.body)) return given;
    throw new TielineError("CONFLICT", `${request.tag} was answered already, by ${given.message.from.name}`, {
      remedy: `see \`tieline show ${given.message.tag}\`; a request is answered once`,
      operands: { tag: request.tag, answer: given.message.tag },
    });
  }

  async function answer(
    request: Message,
    { kind, body }: TeamResponse,
    from: Sender,
    approve: boolean,
  ): Promise<Receipt> {
    if (request.kind === "shutdown_request" && approve) await shutDown(request);
    return (
      await router.send(
        { to: request.from.id, kind, body, inReplyTo: request.id, idempotencyKey: `answer ${request.id}` },
        from,
        { inPlaceOf: userId },
      )
    ).receipt;
  }

  /** What follows an answer, also when it was given just before a crash. */
  async function conclude(request: Message, { unsaid }: TeamResponse, from: Sender): Promise<void> {
    // An agent may have answered for the user, so the request no longer waits.
    const own = mailbox
      .receipt(request.id)
      ?.deliveries.find(({ agent, answeredAt }) => agent === userId && answeredAt === null);
    if (own) await mailbox.confirm(own.id, "reply");
    if (unsaid !== null)
      await router.send(
        { to: request.from.id, body: unsaid, inReplyTo: request.id, idempotencyKey: `words ${request.id}` },
        from,
        { inPlaceOf: userId },
      );
  }

  /** A lead wants one of our agents to stop: it stops before the lead gets the answer. */
  async function shutDown(request: Message): Promise<void> {
    const id = protocol.agentToEnd(request);
    const agent = id && directory.agent(id);
    if (!agent) return;
    await stop(agent, tieline);
    directory.update(agent.id, { shutDown: true });
  }
}

const asksNothing = ({ tag, kind }: Message): TielineError =>
  new TielineError(
    "CONFLICT",
    `${tag} asks you for no approval; it is ${kind === "text" ? "plain text" : `a ${kind}`}`,
    {
      remedy: `\`tieline reply ${tag}\` answers it in words; \`tieline approve\` lists what can be approved`,
      operands: { tag, kind },
    },
  );

const beingAnswered = ({ tag }: Message): TielineError =>
  new TielineError("CONFLICT", `${tag} is being answered right now`, {
    remedy: "look again in a moment",
    operands: { tag },
  });
