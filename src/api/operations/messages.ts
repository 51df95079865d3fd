import { z } from "zod";
import type { Directory } from "../../agents/directory/directory.ts";
import type { Teams } from "../../agents/teams.ts";
import type { LogFilter, Mailbox, Recipient } from "../../mailbox/port.ts";
import { userId } from "../../model/agent.ts";
import { deliveryStates, mayFollow, type Delivery } from "../../model/delivery.ts";
import { asTielineError, TielineError } from "../../model/errors.ts";
import type { AgentId, MessageId } from "../../model/ids.ts";
import type { Message, Sender } from "../../model/message.ts";
import { reached, wantedStates } from "../../model/receipt.ts";
import type { Router } from "../../routing/router.ts";
import { agentCalled, messageCalled, type Resolving } from "../addressed.ts";
import type { Callers } from "../callers.ts";
import { operation } from "../operation.ts";
import { readLog } from "../readLog.ts";
import type { Rights } from "../rights.ts";
import { HistoryView, ReceiptView, type Caller } from "../schema.ts";
import { agentAddress, count, limit, messageTag, pollMs, sinceTime } from "../schemas/fields.ts";
import { isOfTeam, teamFilterOf, type TeamFilterParts } from "../teamFilter.ts";
import { untilMail } from "../untilMail.ts";
import { historyView, receiptView, type ViewParts } from "../views.ts";
import type { Timers } from "../../os/timers.ts";

export interface MessageParts extends ViewParts, Resolving, TeamFilterParts {
  readonly callers: Callers;
  readonly rights: Rights;
  readonly mailbox: Mailbox;
  readonly directory: Directory;
  readonly router: Pick<Router, "successorOf">;
  readonly teams: Pick<Teams, "mustExist">;
  readonly timers: Pick<Timers, "timeout">;
}

const oneDelivery = z.object({
  tag: messageTag,
  agent: agentAddress.optional().describe("only the delivery to this agent"),
});

/** Each word of a search is looked up. */
const longestSearch = 1_000;

const listedTeam = z.string().optional().describe("only what was sent in this team, or by or to one of its agents");

/** In a query the states are one text with commas. */
const states = z.preprocess(
  (value) => (typeof value === "string" ? value.split(",") : value),
  z.array(z.enum(deliveryStates)).max(deliveryStates.length),
);

/** Which messages, for `log` and its count. */
const LogQuery = z.object({
  agent: agentAddress.optional().describe("only messages that this agent sent or received"),
  from: agentAddress.optional().describe("only messages from this agent"),
  to: agentAddress.optional().describe("only messages that went to this agent"),
  team: listedTeam,
  states: states.optional().describe("only messages of which a delivery is in one of these states"),
  thread: messageTag.optional().describe("only the conversation of the message with this tag"),
  grep: z
    .string()
    .max(longestSearch)
    .optional()
    .describe('only messages with all these words; "in quotes" next to each other, word* for a beginning'),
  since: sinceTime.optional(),
  until: count.optional().describe("only messages that were accepted before this moment"),
  after: z.string().optional().describe("an id: only messages that were accepted after it"),
  before: z.string().optional().describe("an id: only messages that were accepted before it"),
});

export const messageOperations = [
  operation({
    name: "status",
    summary: "Show the history of a message, for each recipient.",
    access: "message",
    input: z.object({ tag: messageTag }),
    output: HistoryView,
    async run(parts: MessageParts, { tag }, { caller }) {
      const { callers } = parts;
      return history(parts, tag, await callers.sender(caller));
    },
  }),

  /** Resolves when every delivery has got that far, when one never can, or after the timeout. */
  operation({
    name: "wait",
    summary: "Wait until a message reaches a state.",
    access: "message",
    input: z.object({
      tag: messageTag,
      state: z.enum(wantedStates).describe("the state that every delivery has to reach"),
      timeoutMs: pollMs,
      after: count.optional().describe("answer as soon as any delivery changed after this moment"),
    }),
    output: HistoryView,
    async run(parts: MessageParts, { tag, state, timeoutMs, after }, { caller, signal }) {
      const { callers, mailbox } = parts;
      const from = await callers.sender(caller);
      const message = messageCalled(tag, parts.mailbox);
      const isEnough = (): boolean => {
        const { deliveries } = mailbox.receipt(message.id)!;
        const results = deliveries.map((delivery) => reached(delivery, state));
        const news = after !== undefined && deliveries.some((delivery) => delivery.updatedAt > after);
        return news || results.includes("never") || results.every((result) => result === "yes");
      };
      await untilMail(
        mailbox,
        ({ id }) => id === message.id,
        isEnough,
        AbortSignal.any([signal, parts.timers.timeout(timeoutMs)]),
      );
      return history(parts, tag, from);
    },
  }),

  operation({
    name: "log",
    summary: "List messages, newest last.",
    access: "readable",
    input: LogQuery.extend({ limit: limit.optional() }),
    output: z.array(ReceiptView),
    async run(parts: MessageParts, { limit: most, ...query }, { caller }) {
      const { callers, mailbox, rights } = parts;
      const from = await callers.sender(caller);
      const filter = filterOf(parts, query, from);
      if (filter === null) return [];
      const receipts = readLog(mailbox, rights, from, { ...filter, oldest: false, ...(most && { limit: most }) });
      return receipts.map((receipt) => receiptView(rights.shown(from, receipt), parts));
    },
  }),

  operation({
    name: "logCount",
    summary: "Count the messages that `log` would list without a limit.",
    access: "readable",
    input: LogQuery,
    output: z.object({ count: z.number().int() }),
    async run(parts: MessageParts, query, { caller }) {
      const { callers, mailbox, rights } = parts;
      const from = await callers.sender(caller);
      const filter = filterOf(parts, query, from);
      if (filter === null) return { count: 0 };
      const agents = rights.readsEverything(from) ? undefined : rights.readable(from);
      return { count: mailbox.logCount({ ...filter, ...(agents && { agents }) }) };
    },
  }),

  operation({
    name: "lastMessages",
    summary: "List the last message of each agent, sent or received; each message once.",
    access: "readable",
    input: z.object({ team: z.string().optional().describe("only of this team's agents") }),
    output: z.array(ReceiptView),
    async run(parts: MessageParts, { team }, { caller }) {
      const { callers, directory, mailbox, rights, teams } = parts;
      const from = await callers.sender(caller);
      const agents = team === undefined ? directory.agents() : directory.roster.inTeam(teams.mustExist(team));
      const readable = agents.filter(({ id }) => rights.reads(from, id));
      const ids = new Set(readable.flatMap(({ id }) => mailbox.lastMessage(id)?.id ?? []));
      return [...ids].map((id) => receiptView(rights.shown(from, mailbox.receipt(id)!), parts));
    },
  }),

  operation({
    name: "cancel",
    summary: "Cancel the deliveries of a message that are still queued.",
    access: "message",
    input: oneDelivery,
    output: ReceiptView,
    async run(parts: MessageParts, { tag, agent }, { caller }) {
      const { mailbox } = parts;
      const { message, only } = await ownMessage(parts, tag, agent, caller);
      return receiptView(await mailbox.cancel(message.id, only), parts);
    },
  }),

  operation({
    name: "retry",
    summary: "Queue the failed, expired, cancelled or uncertain deliveries of a message again.",
    access: "message",
    input: oneDelivery,
    output: ReceiptView,
    async run(parts: MessageParts, { tag, agent }, { caller }) {
      const { mailbox } = parts;
      const { message, only } = await ownMessage(parts, tag, agent, caller);
      return receiptView(await mailbox.retry(message.id, only, successors(parts, message, only)), parts);
    },
  }),

  operation({
    name: "dead",
    summary: "List messages that could not be delivered.",
    access: "readable",
    input: z.object({ team: listedTeam, limit: limit.optional() }),
    output: z.array(ReceiptView),
    async run(parts: MessageParts, { team, limit = 50 }, { caller }) {
      const { callers, rights, mailbox } = parts;
      const teamFilter = teamFilterOf(parts);
      const from = await callers.sender(caller);
      const scanned = rights.readsEverything(from) && team === undefined ? limit : Math.max(limit, deadScanned);
      const wanted = team === undefined ? null : teamFilter(team);
      const ids = new Set(mailbox.deliveriesIn(["failed", "expired"], scanned).map((delivery) => delivery.messageId));
      const readable = [...ids]
        .map((id) => mailbox.receipt(id)!)
        .filter((receipt) => rights.readsMessage(from, receipt) && (wanted === null || isOfTeam(receipt, wanted)));
      return readable.slice(0, limit).map((receipt) => receiptView(rights.shown(from, receipt), parts));
    },
  }),
] as const;

/** A message that the caller may cancel or retry, and the recipient that is meant, which may have been removed. */
async function ownMessage(
  parts: MessageParts,
  tag: string,
  address: string | undefined,
  caller: Caller,
): Promise<{ message: Message; only: AgentId | undefined }> {
  const { callers, mailbox, directory } = parts;
  const from = await callers.sender(caller);
  const message = messageCalled(tag, parts.mailbox);
  if (from.id !== userId && from.id !== message.from.id) throw notYours(message, from);
  if (address === undefined) return { message, only: undefined };
  const removed = mailbox
    .receipt(message.id)!
    .deliveries.find(({ agent, agentName }) => agentName === address && directory.agent(agent) === null);
  return { message, only: removed?.agent ?? agentCalled(address, from, parts).id };
}

/**
 * Mail for a removed agent goes to the agent that has its name now. Where there is none, that delivery is refused.
 */
function successors(
  parts: MessageParts,
  message: Message,
  only: AgentId | undefined,
): (delivery: Delivery) => Recipient {
  const { mailbox, directory, router } = parts;
  const meant = mailbox
    .receipt(message.id)!
    .deliveries.filter(({ agent, state }) => (only ?? agent) === agent && mayFollow(state, "retry", "queued"));
  const found = new Map<AgentId, Recipient | TielineError>();
  for (const delivery of meant.filter(({ agent }) => directory.agent(agent) === null)) {
    try {
      found.set(delivery.agent, router.successorOf(delivery, message));
    } catch (thrown) {
      found.set(delivery.agent, asTielineError(thrown));
    }
  }
  return ({ agent, agentName }) => {
    const successor = found.get(agent) ?? { id: agent, name: agentName };
    if (successor instanceof TielineError) throw successor;
    return successor;
  };
}

type Query = z.output<typeof LogQuery>;

/** The query with its names resolved. Null: it refers to a message that the caller may not read. */
function filterOf(parts: MessageParts, query: Query, from: Sender): LogFilter | null {
  const { agent, team, thread, grep, since, until, after, before, states: wanted } = query;
  if (before !== undefined && !isReadable(parts, before, from)) return null;
  const idOf = (address: string): AgentId => agentCalled(address, from, parts).id;
  return {
    ...(agent !== undefined && { agent: idOf(agent) }),
    ...(query.from !== undefined && { from: idOf(query.from) }),
    ...(query.to !== undefined && { to: idOf(query.to) }),
    ...(team !== undefined && { team: teamFilterOf(parts)(team) }),
    ...(wanted !== undefined && { states: wanted }),
    ...(thread !== undefined && { thread: threadCalled(parts, thread, from) }),
    ...(grep && { grep }),
    ...(since && { since }),
    ...(until !== undefined && { until }),
    ...(after !== undefined && { after }),
    ...(before !== undefined && { before }),
  };
}

/** A reply shows the id of its thread also to agents that may not read its first message. */
function threadCalled(parts: MessageParts, tag: string, from: Sender): MessageId {
  const { mailbox, rights } = parts;
  const thread = mailbox.message(tag)?.thread;
  const isShown = thread === tag && readLog(mailbox, rights, from, { thread, limit: 1 }).length > 0;
  return isShown ? thread : rights.messageCalled(from, tag).thread;
}

function isReadable(parts: MessageParts, tag: string, from: Sender): boolean {
  const { mailbox, rights } = parts;
  const receipt = mailbox.receipt(tag);
  return receipt !== null && rights.readsMessage(from, receipt);
}

function history(parts: MessageParts, tag: string, from: Sender): HistoryView {
  const { rights, mailbox } = parts;
  return historyView(rights.shown(from, mailbox.history(messageCalled(tag, parts.mailbox).id)!), parts);
}

/** How many dead deliveries are looked through for those that an agent may read. */
const deadScanned = 1_000;

const notYours = (message: Message, from: Sender): TielineError =>
  new TielineError("NOT_PERMITTED", `${message.tag} was sent by ${message.from.name}, not by ${from.name}`, {
    remedy: "only its sender or the user can do this",
    operands: { tag: message.tag, sender: message.from.name },
  });
