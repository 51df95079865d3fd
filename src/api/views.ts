/** The model as clients see it. */
import type { AgentView, DeliveryView, InboxView, MessageView, ReceiptView, HistoryView } from "./schema.ts";
import type { Courier } from "../delivery/courier.ts";
import type { Directory } from "../agents/directory/directory.ts";
import { presenceOf, type Activities } from "../events/activity.ts";
import type { InboxRow, Mailbox } from "../mailbox/port.ts";
import { exitIn, exitWords, isLive, userId, userName, type Agent, type Endpoint } from "../model/agent.ts";
import type { NotStarted } from "./schemas/life.ts";
import type { Delivery, Transition } from "../model/delivery.ts";
import type { TielineError } from "../model/errors.ts";
import { isRequest, wakes, type Message, type Sender } from "../model/message.ts";
import { summarise } from "../model/summary.ts";
import type { Receipt, History } from "../model/receipt.ts";
import type { RequestProtocol } from "../providers/nativeTeams.ts";
import type { Sent } from "../routing/router.ts";
import type { Transport } from "../delivery/transports/port.ts";
import { tmuxEndpoint } from "../delivery/transports/paneEndpoint.ts";
import type { Clock } from "../model/ids.ts";

export interface ViewParts {
  readonly courier: Pick<Courier, "holdOf">;
  readonly mailbox: Pick<Mailbox, "pending" | "message" | "log" | "inbox" | "isIntact">;
  readonly transports: ReadonlyMap<string, Transport>;
  readonly activities: Activities;
  readonly directory: Pick<Directory, "agent">;
  readonly protocol: RequestProtocol;
  readonly clock: Clock;
}

type ProtocolParts = Pick<ViewParts, "protocol"> & { readonly mailbox: Pick<Mailbox, "log"> };

export function receiptView({ message, deliveries }: Receipt, parts: ViewParts): ReceiptView {
  const { id, tag, from, team, kind, when, thread, inReplyTo, expiresAt, acceptedAt } = message;
  const words = parts.protocol.inWords(message);
  const summary = words === null ? message.summary : summarise(words);
  const views = deliveries.map((delivery) => deliveryView(delivery, message, parts));
  const to = addressee(message, deliveries);
  return {
    id,
    tag,
    from: from.name,
    knownBy: from.knownBy,
    to,
    team,
    kind,
    when,
    summary,
    thread,
    inReplyTo,
    expiresAt,
    acceptedAt,
    deliveries: views,
  };
}

/** A reply is addressed by its reader's id; people and scripts know the reader by name. */
function addressee({ to }: Message, deliveries: readonly Delivery[]): string {
  return deliveries.find(({ agent }) => agent === to)?.agentName ?? to;
}

/** `hasProject`: whether the sender's team has a tieline.yaml. */
export function sentView(
  { receipt, refused }: Sent,
  { broadcast, hasProject }: { readonly broadcast: boolean; readonly hasProject: boolean },
  parts: ViewParts,
): ReceiptView {
  const view = receiptView(receipt, parts);
  const { from } = receipt.message;
  if (!broadcast) return view;
  const successful = view.deliveries.map(({ agent, team }) =>
    team === null || (team === from.team && view.to !== "*") ? agent : `${team}:${agent}`,
  );
  const failed = refused.map(({ agent, error }) => ({ agent, code: error.code, message: error.message }));
  const notice =
    successful.length === 0 && failed.length === 0
      ? { notice: `the broadcast reached no one: ${whyNobody({ ...view, team: from.team }, hasProject)}` }
      : {};
  return { ...view, successful, failed, ...notice };
}

function whyNobody({ to, from, team }: ReceiptView, hasProject: boolean): string {
  if (to === "*") return "no agent is live on this host";
  if (to === "@all" && !hasProject && from === userName)
    return `there are no agents in team ${team}; --team TEAM writes to another team, --all to every live agent`;
  return to === "@all"
    ? "there is no agent you may write to; --spawn starts the agents of tieline.yaml"
    : `${to} has no members; \`tieline team ls\` lists the teams`;
}

export function historyView(history: History, parts: ViewParts): HistoryView {
  const recipients = new Map(history.deliveries.map((delivery) => [delivery.id, recipientOf(delivery, parts)]));
  const shown = [...history.steps].filter(([delivery]) => recipients.has(delivery)).flatMap(([, steps]) => steps);
  const steps = shown.toSorted((a, b) => a.at - b.at || a.delivery - b.delivery);
  return {
    ...receiptView(history, parts),
    answers: tagAnswered(history.message, parts),
    steps: steps.map((step) => stepView(step, recipients.get(step.delivery)!)),
  };
}

export const readerOf = ({ id }: Sender): "user" | "agent" => (id === userId ? "user" : "agent");

export function messageView(
  { id, tag, from, to, team, kind, body, inReplyTo, thread, acceptedAt }: Message,
  { mailbox }: ViewParts,
): MessageView {
  return {
    id,
    tag,
    from: from.name,
    to,
    team,
    kind,
    body,
    inReplyTo,
    thread,
    acceptedAt,
    ...(!mailbox.isIntact(id) && { damaged: true }),
  };
}

export function inboxView({ message, delivery }: InboxRow, parts: ViewParts): InboxView {
  const { id, tag, from, team, kind, when, expectsReply, thread, inReplyTo, acceptedAt } = message;
  const body = parts.mailbox.isIntact(id)
    ? message.body
    : `(the stored text is damaged, so it is not shown: tieline status ${tag})`;
  const to = addressee(message, [delivery]);
  const { state, reason } = deliveryView(delivery, message, parts);
  const answers = tagAnswered(message, parts);
  const request = openRequestIn(message, parts);
  const text = parts.protocol.inWords({ kind, body }) ?? body;
  const answered = isRequest(kind) && request === null ? answerIn(message, parts) : null;
  return {
    id,
    tag,
    from: from.name,
    to,
    team,
    kind,
    body,
    text,
    when,
    expectsReply,
    state,
    reason,
    thread,
    inReplyTo,
    answers,
    request,
    answered,
    at: acceptedAt,
  };
}

const tagAnswered = ({ inReplyTo }: Message, { mailbox }: Pick<ViewParts, "mailbox">): string | null =>
  inReplyTo && (mailbox.message(inReplyTo)?.tag ?? null);

/** Words in reply to a request leave it open: its asker waits for a response of its own protocol. */
export function openRequestIn(message: Message, parts: ProtocolParts): InboxView["request"] {
  const request = message.to === userName ? parts.protocol.requestIn(message) : null;
  return request && responseIn(message, parts) === null ? request : null;
}

function answerIn(message: Message, parts: ProtocolParts): InboxView["answered"] {
  const response = responseIn(message, parts);
  return response && { approved: parts.protocol.approves(response.message.body), tag: response.message.tag };
}

export function responseIn({ id, kind, thread }: Message, { mailbox, protocol }: ProtocolParts): Receipt | null {
  const wanted = isRequest(kind) ? protocol.responseKinds[kind] : null;
  const later = mailbox.log({ thread, after: id, limit: Number.MAX_SAFE_INTEGER });
  return later.find(({ message }) => message.inReplyTo === id && message.kind === wanted) ?? null;
}

export function agentView(agent: Agent, { courier, mailbox, transports, activities, clock }: ViewParts): AgentView {
  const { id, name, team, role, kind, provider, state, draft, sessionId, workspace, note, profile, may } = agent;
  const hold = mailbox.pending(id) === 0 ? null : currentHold(agent, courier.holdOf(id));
  const exit = isLive(agent) ? null : agent.lastExit;
  const reason = agent.stateReason ?? (exit && exitWords(exit));
  const activity = activities.of(agent);
  const endpoints = endpointViews(
    agent.endpoints.filter(({ transport }) => transports.get(transport)?.earliest?.(agent) !== null),
    transports,
  );
  const held = { held: hold?.detail ?? noticesOf(agent, mailbox), heldAt: hold?.at ?? null };
  return {
    ...{
      id,
      name,
      team,
      role,
      kind,
      provider,
      state,
      draft,
      reason,
      presence: presenceOf(agent, activity.lastActivityAt, clock()),
      pane: tmuxEndpoint.of(agent)?.locator.pane ?? null,
      pending: mailbox.pending(id),
      ...held,
    },
    ...{
      details: true,
      sessionId,
      workspace,
      note,
      profile,
      model: agent.launch?.model ?? null,
      cwd: agent.launch?.cwd ?? null,
      may: [...may],
      endpoints,
      lastActivityAt: activity.lastActivityAt,
      activity,
      exit: exit && { ...exit, output: [...exit.output] },
    },
  };
}

/** The reason why its mail waits, unless the agent was started or has ended since. */
function currentHold(agent: Agent, hold: ReturnType<Courier["holdOf"]>): ReturnType<Courier["holdOf"]> {
  if (hold === null) return null;
  const isOutdated = isLive(agent)
    ? hold.reason === "offline" && hold.at < agent.stateAt
    : hold.reason !== "offline" && hold.reason !== "error";
  return isOutdated ? null : hold;
}

export function notStarted(agent: string, error: TielineError): NotStarted {
  const { code, message, remedy } = error;
  const exit = exitIn(error);
  return { agent, code, message, remedy, ...(exit !== null && { output: [...exit.output] }) };
}

/** Acks and bounces start no turn, and where nothing else waits they have no reason of their own. */
function noticesOf({ id, name }: Agent, mailbox: Pick<Mailbox, "pending" | "inbox">): string | null {
  if (mailbox.pending(id) === 0) return null;
  const waiting = mailbox.inbox(id, { pending: true }).filter(({ delivery }) => delivery.state === "queued");
  if (waiting.length === 0 || waiting.some(({ message }) => wakes(message.kind))) return null;
  return waitsToBeRead(name, waiting.length);
}

const waitsToBeRead = (name: string, count = 1): string =>
  `${count === 1 ? "a notice, which starts no turn, waits" : `${count} notices, which start no turn, wait`} ` +
  `until ${name} reads its inbox`;

/** What an agent sees of another that it may write to, but not read: that it is there, and what it does. */
export function withoutDetails(view: AgentView): AgentView {
  const { activity } = view;
  return {
    ...view,
    ...{
      details: false,
      draft: false,
      reason: null,
      pane: null,
      pending: 0,
      held: null,
      heldAt: null,
      sessionId: null,
      workspace: null,
      profile: null,
      model: null,
      cwd: null,
      exit: null,
    },
    ...{
      may: [],
      endpoints: [],
      activity: { ...activity, paneId: null, wishId: null, lastEvent: null, eventCount: 0 },
    },
  };
}

/** The transports by which an agent can be reached, and what each can prove. */
export function endpointViews(
  endpoints: readonly Endpoint[],
  transports: ViewParts["transports"],
): AgentView["endpoints"] {
  return endpoints.flatMap(({ transport }) => {
    const traits = transports.get(transport)?.traits;
    return traits ? [{ transport, bestProof: traits.bestProof, authority: traits.authority }] : [];
  });
}

/** A delivery that waits behind others has no reason of its own; the one at the head speaks for it. */
function deliveryView(delivery: Delivery, { kind }: Message, parts: ViewParts): DeliveryView {
  const { agentName, state, proof, transport, authority, attempts, warning, answeredAt, stateAt, updatedAt } = delivery;
  const notes = [...delivery.notes];
  const behind = wakes(kind) ? parts.courier.holdOf(delivery.agent)?.detail : waitsToBeRead(agentName);
  const waitsBehind = state === "queued" && delivery.detail === null ? behind : null;
  return {
    ...recipientOf(delivery, parts),
    state,
    proof,
    transport,
    authority,
    reason: delivery.detail ?? waitsBehind ?? null,
    attempts,
    warning,
    notes,
    answeredAt,
    stateAt,
    updatedAt,
  };
}

type Recipient = Pick<DeliveryView, "agent" | "agentId" | "team">;

const recipientOf = ({ agent, agentName }: Delivery, { directory }: ViewParts): Recipient => ({
  agent: agentName,
  agentId: agent,
  team: directory.agent(agent)?.team || null,
});

function stepView(
  { at, verb, from, to, reason, detail, proof, transport, leftOut }: Transition,
  recipient: Recipient,
): HistoryView["steps"][number] {
  return {
    at,
    ...recipient,
    verb,
    from,
    to,
    reason: detail ?? reason,
    proof,
    transport,
    ...(leftOut !== undefined && { leftOut }),
  };
}
