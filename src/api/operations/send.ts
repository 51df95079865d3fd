/** Writing a message. */
import { z } from "zod";
import type { Directory } from "../../agents/directory/directory.ts";
import type { StatusMonitor } from "../../agents/status/statusMonitor.ts";
import type { Teams } from "../../agents/teams.ts";
import type { Courier } from "../../delivery/courier.ts";
import type { TranscriptWatcher } from "../../delivery/transcriptWatcher.ts";
import { filesEndpoint, readsFiles } from "../../delivery/transports/filesEndpoint.ts";
import type { Mailbox } from "../../mailbox/port.ts";
import { isBroadcast, parseAddress } from "../../model/address.ts";
import { canStart, isLive, userId, type Agent } from "../../model/agent.ts";
import { provesSeen } from "../../model/delivery.ts";
import { TielineError } from "../../model/errors.ts";
import { replyAddress, type Draft, type Sender } from "../../model/message.ts";
import { wantedStates, type Receipt, type Wanted } from "../../model/receipt.ts";
import type { Router, RouterParts } from "../../routing/router.ts";
import { messageCalled } from "../addressed.ts";
import type { Callers } from "../callers.ts";
import { operation } from "../operation.ts";
import type { Rights } from "../rights.ts";
import { ReceiptView, type Caller } from "../schema.ts";
import { bodyText, messageTag, recipient, ttlMs, urgency } from "../schemas/fields.ts";
import { sentView, type ViewParts } from "../views.ts";

interface Words {
  readonly body: string;
  readonly summary?: string | undefined;
  readonly when?: Draft["when"] | undefined;
  readonly hard?: boolean | undefined;
  readonly ttlMs?: number | undefined;
  readonly key?: string | undefined;
  readonly kind?: "text" | "ack" | undefined;
  readonly from?: string | undefined;
  readonly wait?: Wanted | undefined;
  readonly expectsReply?: boolean | undefined;
  readonly spawn?: boolean | undefined;
}

export interface SendParts extends ViewParts {
  readonly callers: Callers;
  readonly rights: Rights;
  readonly mailbox: Mailbox;
  readonly directory: Directory;
  readonly courier: Courier;
  readonly router: Router;
  readonly resolve: RouterParts["resolve"];
  readonly statusMonitor: Pick<StatusMonitor, "refresh">;
  readonly teams: Pick<Teams, "projectOf">;
  readonly transcriptWatcher: Pick<TranscriptWatcher, "canProve">;
}

const draftFields = {
  body: bodyText,
  summary: z.string().optional().describe("one line for lists; default: the beginning of the text"),
  when: urgency.optional(),
  hard: z.boolean().optional().describe("with interrupt: also stop a running generation"),
  ttlMs: ttlMs.optional(),
  key: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("idempotency key: the same key from the same sender is the same message"),
  kind: z.enum(["text", "ack"]).optional().describe("ack: an acknowledgement, which wakes no agent"),
  from: z.string().optional().describe("the user only: send as this object of the team"),
  wait: z
    .enum(wantedStates)
    .optional()
    .describe("the state that the sender waits for; if it can never be proved, nothing is sent"),
};

export const sendOperations = [
  operation({
    name: "send",
    summary: "Send a message to an agent, a team or all agents; returns once it is stored.",
    access: "everyone",
    input: z.object({
      to: recipient,
      replyTo: messageTag.optional().describe("the tag of the message that this one answers"),
      expectsReply: z.boolean().optional().describe("tell the agent that an answer is expected"),
      spawn: z.boolean().optional().describe("with @all or a team: start members that are offline"),
      ...draftFields,
    }),
    output: ReceiptView,
    async run(parts: SendParts, { to, replyTo, ...words }, { caller }) {
      const { rights, callers } = parts;
      const from = await senderFor(parts, caller, words.from);
      const inReplyTo =
        replyTo === undefined ? undefined : rights.messageCalled(await callers.sender(caller), replyTo).id;
      return send(parts, { to, ...draftOf(words), ...(inReplyTo && { inReplyTo }) }, from, words.wait);
    },
  }),

  operation({
    name: "reply",
    summary: "Reply to the sender of a message, and mark it as answered.",
    access: "message",
    input: z.object({ tag: messageTag, ...draftFields }),
    output: ReceiptView,
    async run(parts: SendParts, { tag, ...words }, { caller }) {
      const from = await senderFor(parts, caller, words.from);
      const original = messageCalled(tag, parts.mailbox);
      return send(parts, { to: replyAddress(original), inReplyTo: original.id, ...draftOf(words) }, from, words.wait);
    },
  }),
] as const;

function draftOf({ body, summary, when, hard, ttlMs, key, kind, expectsReply, spawn }: Words): Omit<Draft, "to"> {
  const given = { summary, when, hard, ttlMs, kind, expectsReply, spawn, idempotencyKey: key };
  return {
    body,
    ...(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<Draft>),
  };
}

/** With what is known already of how late it will arrive. */
async function announced(parts: SendParts, receipt: Receipt): Promise<Receipt> {
  const { directory, courier, mailbox } = parts;
  const { message, deliveries } = receipt;
  if (message.when === "turn") return receipt;
  for (const delivery of deliveries) {
    const agent = directory.agent(delivery.agent);
    if (agent !== null) await courier.announce(agent, message, delivery);
  }
  return mailbox.receipt(message.id) ?? receipt;
}

/**
 * The user may be in the wrong directory: what they wrote to does not run, and agents of that name in other teams do.
 */
function runningElsewhere(
  parts: SendParts,
  { message: { to, tag }, deliveries: [delivery] }: Receipt,
  from: Sender,
): string | null {
  const { directory } = parts;
  const agent = delivery === undefined ? null : directory.agent(delivery.agent);
  if (from.id !== userId || agent === null || agent.kind !== "program" || to !== agent.name || isLive(agent))
    return null;
  const others = directory
    .agents()
    .filter(({ name, team, kind }) => name === agent.name && team !== agent.team && kind === "program")
    .filter(isLive);
  const [first] = others.map(({ team, name }) => `${team}:${name}`);
  if (first === undefined) return null;
  const starts = canStart(agent) ? ", so this message starts it" : "";
  return (
    `${agent.team}:${agent.name} is not running${starts}; ` +
    `${others.map(({ team, name }) => `${team}:${name}`).join(", ")} is. ` +
    `\`tieline send ${first}\` reaches that one; \`tieline cancel ${tag}\` takes this message back`
  );
}

/** With --from the user speaks for an object of the team. */
async function senderFor(parts: SendParts, caller: Caller, name: string | undefined): Promise<Sender> {
  const { callers, directory } = parts;
  const sender = await callers.sender(caller);
  if (name === undefined || name === sender.name) return sender;
  const object = directory.roster.named(sender.team, name);
  if (sender.id === userId && object?.kind === "object")
    return { id: object.id, name, team: object.team, knownBy: "object" };
  throw new TielineError("NOT_PERMITTED", `${sender.name} cannot write as ${name}`, {
    remedy: "--from is for the user, and names an object of the team",
    operands: { sender: sender.name, from: name },
  });
}

/** Refuses to wait for a proof that no transport can give. */
function checkProvable(parts: SendParts, draft: Draft, from: Sender): void {
  const { agents } = parts.resolve(draft.to, from);
  for (const agent of agents) {
    if (!readsFiles(agent) && parts.transcriptWatcher.canProve(agent)) continue;
    const ways = readsFiles(agent) ? [filesEndpoint] : agent.endpoints;
    const proofs = ways.map(({ transport }) => parts.transports.get(transport)?.traits.bestProof);
    if (agent.endpoints.length > 0 && !proofs.some((proof) => proof !== undefined && provesSeen(proof)))
      throw unprovable(agent);
  }
}

const unprovable = (agent: Agent): TielineError =>
  new TielineError("PROOF_UNAVAILABLE", `nothing can prove that ${agent.name} (${agent.provider}) has seen a message`, {
    remedy: "use --wait delivered, or --wait answered if it will reply",
    operands: { agent: agent.name, provider: agent.provider },
  });

async function send(parts: SendParts, draft: Draft, from: Sender, wait: Wanted | undefined) {
  const { router } = parts;
  if (wait === "seen") checkProvable(parts, draft, from);
  const broadcast = isBroadcast(parseAddress(draft.to));
  // Those who ended while nothing looked are not counted among those who get it.
  if (broadcast) await parts.statusMonitor.refresh(parts.resolve(draft.to, from).agents);
  const sent = await router.send(draft, from);
  // It is accepted; what fails now fails in the courier as well, which reports it.
  const receipt = await announced(parts, sent.receipt).catch(() => sent.receipt);
  const elsewhere = broadcast ? null : runningElsewhere(parts, receipt, from);
  return {
    ...sentView({ ...sent, receipt }, { broadcast, hasProject: parts.teams.projectOf(from.team) !== null }, parts),
    ...(elsewhere !== null && { notice: elsewhere }),
  };
}
