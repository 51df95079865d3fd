/** Reading mail: an inbox, a message, and that both were shown. */
import { z } from "zod";
import type { Directory } from "../../agents/directory/directory.ts";
import type { Courier } from "../../delivery/courier.ts";
import type { TranscriptWatcher } from "../../delivery/transcriptWatcher.ts";
import type { InboxFilter, InboxRow, Mailbox } from "../../mailbox/port.ts";
import { userId } from "../../model/agent.ts";
import { isSummaryOnly, openStates, type Delivery, type Proof } from "../../model/delivery.ts";
import { notesOn } from "../../model/envelope.ts";
import { TielineError } from "../../model/errors.ts";
import { deliveryId, type AgentId } from "../../model/ids.ts";
import { agentCalled, messageCalled, type Resolving } from "../addressed.ts";
import type { Callers } from "../callers.ts";
import { operation } from "../operation.ts";
import { InboxView, MessageView } from "../schema.ts";
import { agentAddress, flag, limit, messageTag, reader } from "../schemas/fields.ts";
import { teamFilterOf, type TeamFilterParts } from "../teamFilter.ts";
import { inboxView, messageView, readerOf, type ViewParts } from "../views.ts";

export interface InboxParts extends ViewParts, Resolving, TeamFilterParts {
  readonly callers: Callers;
  readonly mailbox: Mailbox;
  readonly directory: Directory;
  readonly courier: Courier;
  readonly transcriptWatcher: Pick<TranscriptWatcher, "canProve">;
}

export const inboxOperations = [
  operation({
    name: "show",
    summary: "Show the whole text of a message.",
    access: "message",
    input: z.object({ tag: messageTag }),
    output: MessageView.extend({ reader }),
    async run(parts: InboxParts, { tag }, { caller }) {
      const { callers, mailbox } = parts;
      const from = await callers.sender(caller);
      const view = messageView(messageCalled(tag, parts.mailbox), parts);
      if (view.damaged) throw damaged(view.tag);
      await fetched(parts, mailbox.receipt(view.id)!.deliveries, from.id);
      return { ...view, reader: readerOf(from) };
    },
  }),

  operation({
    name: "inbox",
    summary: "Read the mail of an agent, or your own.",
    access: "agent",
    input: z.object({
      agent: agentAddress.optional().describe("an agent's name, or team:name; default: the caller"),
      pending: flag.optional().describe("only waiting mail"),
      limit: limit.optional(),
      team: z.string().optional().describe("only what was sent in this team"),
      peek: flag.optional().describe("do not mark anything as seen"),
    }),
    output: z.array(InboxView),
    async run(parts: InboxParts, { agent: address, team, pending = false, limit = 50, peek = false }, { caller }) {
      const { callers, mailbox, courier, directory } = parts;
      const teamFilter = teamFilterOf(parts);
      const from = await callers.sender(caller);
      const owner = address === undefined ? from.id : agentCalled(address, from, parts).id;
      const filter = { pending, limit, ...(team !== undefined && { team: teamFilter(team).name }) };
      if (!peek)
        await fetched(
          parts,
          mailbox.inbox(owner, filter).map(({ delivery }) => delivery),
          from.id,
        );
      if (peek || owner !== from.id) return newFirst(parts, owner, filter).map((row) => inboxView(row, parts));
      const collected = await courier.collect(directory.agent(owner)!, {
        transport: "pull",
        authority: "peer",
        limit,
        take: (message) => filter.team === undefined || message.team === filter.team,
      });
      const taken = new Set(collected.items.map(({ delivery }) => delivery.id));
      const others = newFirst(parts, owner, filter).filter(({ delivery }) => !taken.has(delivery.id));
      // Showing it to the user settles whether it arrived.
      const isShownNow = ({ id, state }: Delivery): boolean =>
        taken.has(id) || (owner === userId && state === "uncertain");
      return [...collected.items, ...others].slice(0, limit).map((row) => ({
        ...inboxView(row, parts),
        ...(isShownNow(row.delivery) && { delivery: row.delivery.id as number }),
      }));
    },
  }),

  operation({
    name: "collected",
    summary: "Confirm that fetched mail was shown; only then does it count as seen.",
    access: "own",
    input: z.object({
      deliveries: z.array(z.number().int()).describe("the `delivery` of each message"),
      partial: z.array(z.number().int()).optional().describe("those of which only a part was shown"),
    }),
    output: z.object({ seen: z.number().int() }),
    async run(parts: InboxParts, { deliveries, partial = [] }, { caller }) {
      const { callers, mailbox } = parts;
      const from = await callers.sender(caller);
      const own = deliveries
        .flatMap((id) => mailbox.delivery(deliveryId(id)) ?? [])
        .filter((one) => one.agent === from.id);
      const seen = await Promise.all(own.map((one) => shown(parts, one, !partial.includes(one.id))));
      return { seen: seen.filter(Boolean).length };
    },
  }),
] as const;

/** What waits, in the order in which it came, then what was read or came to nothing, the newest first. */
function newFirst(parts: InboxParts, owner: AgentId, filter: InboxFilter): readonly InboxRow[] {
  const { mailbox } = parts;
  const waiting = mailbox.inbox(owner, { ...filter, pending: true, oldest: true });
  if (filter.pending) return waiting;
  const isWaiting = new Set(waiting.map(({ delivery }) => delivery.id));
  const before = mailbox
    .inbox(owner, filter)
    .filter(({ delivery }) => !isWaiting.has(delivery.id) && !openStates.includes(delivery.state));
  return [...waiting, ...before.toReversed()].slice(0, filter.limit);
}

/** A reader who took longer than its lease still says the truth about what it read. */
async function shown(parts: InboxParts, { id, agent, state, transport }: Delivery, whole: boolean): Promise<boolean> {
  const { mailbox } = parts;
  const proof = whole ? proofOfFetching(parts, agent) : "submitted";
  if (state === "claimed")
    await mailbox.settle(
      id,
      { kind: "delivered", proof, notes: notesOn({ inline: whole, changes: [] }) },
      { transport: "pull", authority: "peer" },
    );
  else if (state === "uncertain" && (transport === "pull" || agent === userId)) await mailbox.confirm(id, proof);
  else return false;
  return true;
}

/** The agent reads the whole text of what it had only a summary of. */
async function fetched(parts: InboxParts, deliveries: readonly Delivery[], reader: AgentId): Promise<void> {
  const { mailbox } = parts;
  for (const { id, agentName } of deliveries.filter((one) => one.agent === reader && isSummaryOnly(one))) {
    await Promise.all([
      mailbox.note(id, "summary-only", null),
      mailbox.note(id, "fetched", `${agentName} got a summary, and fetched the whole text`),
    ]);
    await mailbox.confirm(id, proofOfFetching(parts, reader));
  }
}

/**
 * A program with a model has it once the model has answered behind the result of its tool; for any other, fetching is
 * reading.
 */
function proofOfFetching(parts: InboxParts, id: AgentId): Proof {
  const { directory } = parts;
  const agent = directory.agent(id);
  return agent !== null && parts.transcriptWatcher.canProve(agent) ? "submitted" : "tool";
}

const damaged = (tag: string): TielineError =>
  new TielineError(
    "STORE_CORRUPT",
    `the stored text of ${tag} does not match its checksum: it was altered on the disk`,
    {
      remedy: "ask its sender to send it again; `tieline export` prints the text as it is now",
      operands: { tag },
    },
  );
