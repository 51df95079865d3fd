/** What agents ask the user to approve, and the answers. */
import { z } from "zod";
import type { Directory } from "../../agents/directory/directory.ts";
import type { TmuxServers } from "../../agents/layout/servers.ts";
import { stop, type EndParts } from "../../agents/stop/end.ts";
import type { ProbingTransport } from "../../delivery/transports/port.ts";
import type { Mailbox } from "../../mailbox/port.ts";
import { userId, userName } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import type { Clock, MessageId } from "../../model/ids.ts";
import type { Message, Sender } from "../../model/message.ts";
import type { Receipt } from "../../model/receipt.ts";
import type { Processes } from "../../os/processes.ts";
import type { TeamResponse } from "../../providers/nativeTeams.ts";
import type { Providers } from "../../providers/providers.ts";
import type { Router } from "../../routing/router.ts";
import { messageCalled } from "../addressed.ts";
import type { Callers } from "../callers.ts";
import { operation } from "../operation.ts";
import { messageTag } from "../schemas/fields.ts";
import { ReceiptView } from "../schema.ts";
import { OpenRequest } from "../schemas/requests.ts";
import { openRequestIn, receiptView, responseIn, type ViewParts } from "../views.ts";

/** How far back in the user's mail open requests are looked for. */
const lookBack = 1_000;

export interface RequestParts extends ViewParts, EndParts {
  readonly callers: Callers;
  readonly mailbox: Mailbox;
  readonly clock: Clock;
  /** Requests that are being answered now: two answers at once must not both go out. */
  readonly busy: Set<MessageId>;
  readonly router: Router;
  readonly directory: Directory;
  readonly providers: Providers;
  readonly servers: TmuxServers;
  readonly tmux: ProbingTransport;
  readonly processes: Processes;
}

export const requestOperations = [
  /** Oldest first; also those that the user has read already. */
  operation({
    name: "requests",
    summary: "List the pending requests of agents: permissions, plans, shutdowns.",
    access: "answer",
    input: z.object({}),
    output: z.array(OpenRequest),
    async run(parts: RequestParts, _, { caller }) {
      const { callers, mailbox } = parts;
      await callers.sender(caller);
      return mailbox.inbox(userId, { limit: lookBack }).flatMap(({ message }) => {
        const request = openRequestIn(message, parts);
        const { tag, from, team, acceptedAt: at } = message;
        return request ? [{ ...request, tag, from: from.name, team, at }] : [];
      });
    },
  }),

  /** The same answer again is the same answer; another one is a CONFLICT. */
  operation({
    name: "answerRequest",
    summary: "Approve or deny a request of an agent, once.",
    access: "answer",
    input: z.object({
      tag: messageTag.describe("the tag of the request, such as MSG_SCOUT_7f3a91c2"),
      approve: z.boolean().describe("true approves, false denies"),
      text: z.string().optional().describe("what else to tell the agent"),
    }),
    output: ReceiptView,
    async run(parts: RequestParts, { tag, approve, text }, { caller }) {
      const { callers, mailbox, busy } = parts;
      const from = await callers.allow(caller, "answer");
      const request = messageCalled(tag, mailbox);
      const response =
        request.to === userName
          ? parts.protocol.responseTo(request, { approve, text: text?.trim() || null }, parts.clock())
          : null;
      if (response === null) throw asksNothing(request);
      if (busy.has(request.id)) throw beingAnswered(request);
      busy.add(request.id);
      try {
        const receipt =
          earlierAnswer(parts, request, response) ?? (await answer(parts, request, response, from, approve));
        await conclude(parts, request, response, from);
        return receiptView(receipt, parts);
      } finally {
        busy.delete(request.id);
      }
    },
  }),
] as const;

/** Answers once; the same answer again is the one that was given. */
function earlierAnswer(parts: RequestParts, request: Message, response: TeamResponse): Receipt | null {
  const given = responseIn(request, parts);
  if (given === null || parts.protocol.sameResponse(given.message.body, response.body)) return given;
  throw new TielineError("CONFLICT", `${request.tag} was already answered by ${given.message.from.name}`, {
    remedy: `see \`tieline show ${given.message.tag}\`; a request is answered once`,
    operands: { tag: request.tag, answer: given.message.tag },
  });
}

async function answer(
  parts: RequestParts,
  request: Message,
  { kind, body }: TeamResponse,
  from: Sender,
  approve: boolean,
): Promise<Receipt> {
  const { router } = parts;
  if (request.kind === "shutdown_request" && approve) await shutDown(parts, request);
  return (
    await router.send(
      { to: request.from.id, kind, body, inReplyTo: request.id, idempotencyKey: `answer ${request.id}` },
      from,
      { inPlaceOf: userId },
    )
  ).receipt;
}

/** What follows an answer, also when it was given just before a crash. */
async function conclude(parts: RequestParts, request: Message, { unsaid }: TeamResponse, from: Sender): Promise<void> {
  const { mailbox, router } = parts;
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
async function shutDown(parts: RequestParts, request: Message): Promise<void> {
  const { directory } = parts;
  const id = parts.protocol.agentToEnd(request);
  const agent = id && directory.agent(id);
  if (!agent) return;
  await stop(agent, parts);
  directory.update(agent.id, { shutDown: true });
}

const asksNothing = ({ tag, kind }: Message): TielineError =>
  new TielineError("CONFLICT", `${tag} is not a request; it is ${kind === "text" ? "plain text" : `a ${kind}`}`, {
    remedy: `\`tieline reply ${tag}\` answers it; \`tieline approve\` lists the requests`,
    operands: { tag, kind },
  });

const beingAnswered = ({ tag }: Message): TielineError =>
  new TielineError("CONFLICT", `${tag} is being answered right now`, {
    remedy: "try again in a moment",
    operands: { tag },
  });
