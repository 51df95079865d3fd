import type { Caller, HistoryView } from "../schema.ts";
import type { Switch } from "../../compose/index.ts";
import { isBroadcast, parseAddress } from "../../model/address.ts";
import { canStart, isLive, userId, type Agent } from "../../model/agent.ts";
import { isSummaryOnly, mayFollow, openStates, provesSeen, type Delivery, type Proof } from "../../model/delivery.ts";
import { notesOn } from "../../model/envelope.ts";
import { asTielineError, TielineError } from "../../model/errors.ts";
import { deliveryId, type AgentId, type MessageId } from "../../model/ids.ts";
import { replyAddress, type Draft, type Message, type Sender } from "../../model/message.ts";
import { reached, type Receipt, type Wanted } from "../../model/receipt.ts";
import { agentCalled, messageCalled } from "../addressed.ts";
import { filesEndpoint, readsFiles } from "../../delivery/transports/filesEndpoint.ts";
import type { Callers } from "../callers.ts";
import type { Operations } from "../../daemon/http.ts";
import { readLog } from "../../daemon/readLog.ts";
import type { InboxFilter, InboxRow, Recipient } from "../../mailbox/port.ts";
import { isOfTeam, teamFilterOf } from "../../daemon/teamFilter.ts";
import type { Rights } from "../rights.ts";
import { untilMail } from "../untilMail.ts";
import { inboxView, messageView, readerOf, receiptView, sentView, historyView } from "../views.ts";

type MessageOperations = Pick<
  Operations,
  "send" | "reply" | "show" | "status" | "wait" | "inbox" | "collected" | "log" | "cancel" | "retry" | "dead"
>;

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

export function messageOperations(tieline: Switch, callers: Callers, rights: Rights): MessageOperations {
  const { mailbox, directory, router, courier } = tieline;
  const teamFilter = teamFilterOf(tieline);

  return {
    async send({ to, replyTo, ...words }, { caller }) {
      const from = await senderFor(caller, words.from);
      const inReplyTo =
        replyTo === undefined ? undefined : rights.messageCalled(await callers.sender(caller), replyTo).id;
      return send({ to, ...draftOf(words), ...(inReplyTo && { inReplyTo }) }, from, words.wait);
    },

    async reply({ tag, ...words }, { caller }) {
      const from = await senderFor(caller, words.from);
      const original = mustFind(tag);
      return send({ to: replyAddress(original), inReplyTo: original.id, ...draftOf(words) }, from, words.wait);
    },

    async show({ tag }, { caller }) {
      const from = await callers.sender(caller);
      const view = messageView(mustFind(tag), tieline);
      if (view.damaged) throw damaged(view.tag);
      await fetched(mailbox.receipt(view.id)!.deliveries, from.id);
      return { ...view, reader: readerOf(from) };
    },

    async status({ tag }, { caller }) {
      return history(tag, await callers.sender(caller));
    },

    async wait({ tag, state, timeoutMs, after }, { caller, signal }) {
      const from = await callers.sender(caller);
      const message = mustFind(tag);
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
        AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      );
      return history(tag, from);
    },

    async inbox({ agent: address, team, pending = false, limit = 50, peek = false }, { caller }) {
      const from = await callers.sender(caller);
      const owner = address === undefined ? from.id : agentCalled(address, from, tieline).id;
      const filter = { pending, limit, ...(team !== undefined && { team: teamFilter(team).name }) };
      if (!peek)
        await fetched(
          mailbox.inbox(owner, filter).map(({ delivery }) => delivery),
          from.id,
        );
      if (peek || owner !== from.id) return newFirst(owner, filter).map((row) => inboxView(row, tieline));
      const collected = await courier.collect(directory.agent(owner)!, {
        transport: "pull",
        authority: "peer",
        limit,
        take: (message) => filter.team === undefined || message.team === filter.team,
      });
      const taken = new Set(collected.items.map(({ delivery }) => delivery.id));
      const others = newFirst(owner, filter).filter(({ delivery }) => !taken.has(delivery.id));
      // Showing it to the user settles whether it arrived.
      const isShownNow = ({ id, state }: Delivery): boolean =>
        taken.has(id) || (owner === userId && state === "uncertain");
      return [...collected.items, ...others].slice(0, limit).map((row) => ({
        ...inboxView(row, tieline),
        ...(isShownNow(row.delivery) && { delivery: row.delivery.id as number }),
      }));
    },

    async collected({ deliveries, partial = [] }, { caller }) {
      const from = await callers.sender(caller);
      const own = deliveries
        .flatMap((id) => mailbox.delivery(deliveryId(id)) ?? [])
        .filter((one) => one.agent === from.id);
      const seen = await Promise.all(own.map((one) => shown(one, !partial.includes(one.id))));
      return { seen: seen.filter(Boolean).length };
    },

    async log({ agent: address, team, thread, grep, since, before, limit }, { caller }) {
      const from = await callers.sender(caller);
      const agent = address === undefined ? undefined : agentCalled(address, from, tieline).id;
      const threadId = thread === undefined ? undefined : threadCalled(thread, from);
      if (before !== undefined && !isReadable(before, from)) return [];
      const filter = {
        ...(agent && { agent }),
        ...(team !== undefined && { team: teamFilter(team) }),
        ...(threadId && { thread: threadId }),
        ...(grep && { grep }),
        ...(since && { since }),
        ...(before && { before }),
        ...(limit && { limit }),
      };
      return readLog(mailbox, rights, from, filter).map((receipt) => receiptView(rights.shown(from, receipt), tieline));
    },

    async cancel({ tag, agent }, { caller }) {
      const { message, only } = await ownMessage(tag, agent, caller);
      return receiptView(await mailbox.cancel(message.id, only), tieline);
    },

    async retry({ tag, agent }, { caller }) {
      const { message, only } = await ownMessage(tag, agent, caller);
      return receiptView(await mailbox.retry(message.id, only, successors(message, only)), tieline);
    },

    async dead({ team, limit = 50 }, { caller }) {
      const from = await callers.sender(caller);
      const scanned = rights.readsEverything(from) && team === undefined ? limit : Math.max(limit, deadScanned);
      const wanted = team === undefined ? null : teamFilter(team);
      const ids = new Set(mailbox.deliveriesIn(["failed", "expired"], scanned).map((delivery) => delivery.messageId));
      const readable = [...ids]
        .map((id) => mailbox.receipt(id)!)
        .filter((receipt) => rights.readsMessage(from, receipt) && (wanted === null || isOfTeam(receipt, wanted)));
      return readable.slice(0, limit).map((receipt) => receiptView(rights.shown(from, receipt), tieline));
    },
  };

  /** What waits, in the order in which it came, then what was read or came to nothing, the newest first. */
  function newFirst(owner: AgentId, filter: InboxFilter): readonly InboxRow[] {
    const waiting = mailbox.inbox(owner, { ...filter, pending: true, oldest: true });
    if (filter.pending) return waiting;
    const isWaiting = new Set(waiting.map(({ delivery }) => delivery.id));
    const before = mailbox
      .inbox(owner, filter)
      .filter(({ delivery }) => !isWaiting.has(delivery.id) && !openStates.includes(delivery.state));
    return [...waiting, ...before.toReversed()].slice(0, filter.limit);
  }

  /** A reader who took longer than its lease still says the truth about what it read. */
  async function shown({ id, agent, state, transport }: Delivery, whole: boolean): Promise<boolean> {
    const proof = whole ? proofOfFetching(agent) : "submitted";
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
  async function fetched(deliveries: readonly Delivery[], reader: AgentId): Promise<void> {
    for (const { id, agentName } of deliveries.filter((one) => one.agent === reader && isSummaryOnly(one))) {
      await Promise.all([
        mailbox.note(id, "summary-only", null),
        mailbox.note(id, "fetched", `${agentName} got a summary, and fetched the whole text`),
      ]);
      await mailbox.confirm(id, proofOfFetching(reader));
    }
  }

  /**
   * A program with a model has it once the model has answered behind the result of its tool; for any other, fetching is
   * reading.
   */
  function proofOfFetching(id: AgentId): Proof {
    const agent = directory.agent(id);
    return agent !== null && tieline.transcriptWatcher.canProve(agent) ? "submitted" : "tool";
  }

  async function send(draft: Draft, from: Sender, wait: Wanted | undefined) {
    if (wait === "seen") checkProvable(draft, from);
    const broadcast = isBroadcast(parseAddress(draft.to));
    // Those who ended while nothing looked are not counted among those who get it.
    if (broadcast) await tieline.statusMonitor.refresh(tieline.resolve(draft.to, from).agents);
    const sent = await router.send(draft, from);
    // It is accepted; what fails now fails in the courier as well, which reports it.
    const receipt = await announced(sent.receipt).catch(() => sent.receipt);
    const elsewhere = broadcast ? null : runningElsewhere(receipt, from);
    return {
      ...sentView(
        { ...sent, receipt },
        { broadcast, hasProject: tieline.teams.projectOf(from.team) !== null },
        tieline,
      ),
      ...(elsewhere !== null && { notice: elsewhere }),
    };
  }

  /**
   * The user may be in the wrong directory: what they wrote to does not run, and agents of that name in other teams do.
   */
  function runningElsewhere({ message: { to, tag }, deliveries: [delivery] }: Receipt, from: Sender): string | null {
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

  /** With what is known already of how late it will arrive. */
  async function announced(receipt: Receipt): Promise<Receipt> {
    const { message, deliveries } = receipt;
    if (message.when === "turn") return receipt;
    for (const delivery of deliveries) {
      const agent = directory.agent(delivery.agent);
      if (agent !== null) await courier.announce(agent, message, delivery);
    }
    return mailbox.receipt(message.id) ?? receipt;
  }

  /** With --from the user speaks for an object of the team. */
  async function senderFor(caller: Caller, name: string | undefined): Promise<Sender> {
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
  function checkProvable(draft: Draft, from: Sender): void {
    const { agents } = tieline.resolve(draft.to, from);
    for (const agent of agents) {
      if (!readsFiles(agent) && tieline.transcriptWatcher.canProve(agent)) continue;
      const ways = readsFiles(agent) ? [filesEndpoint] : agent.endpoints;
      const proofs = ways.map(({ transport }) => tieline.transports.get(transport)?.traits.bestProof);
      if (agent.endpoints.length > 0 && !proofs.some((proof) => proof !== undefined && provesSeen(proof)))
        throw unprovable(agent);
    }
  }

  /** A message that the caller may cancel or retry, and the recipient that is meant, which may have been removed. */
  async function ownMessage(
    tag: string,
    address: string | undefined,
    caller: Caller,
  ): Promise<{ message: Message; only: AgentId | undefined }> {
    const from = await callers.sender(caller);
    const message = mustFind(tag);
    if (from.id !== userId && from.id !== message.from.id) throw notYours(message, from);
    if (address === undefined) return { message, only: undefined };
    const removed = mailbox
      .receipt(message.id)!
      .deliveries.find(({ agent, agentName }) => agentName === address && directory.agent(agent) === null);
    return { message, only: removed?.agent ?? agentCalled(address, from, tieline).id };
  }

  /**
   * Mail for a removed agent goes to the agent that has its name now. Where there is none, that delivery is refused.
   */
  function successors(message: Message, only: AgentId | undefined): (delivery: Delivery) => Recipient {
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

  /** A reply shows the id of its thread also to agents that may not read its first message. */
  function threadCalled(tag: string, from: Sender): MessageId {
    const thread = mailbox.message(tag)?.thread;
    const isShown = thread === tag && readLog(mailbox, rights, from, { thread, limit: 1 }).length > 0;
    return isShown ? thread : rights.messageCalled(from, tag).thread;
  }

  function isReadable(tag: string, from: Sender): boolean {
    const receipt = mailbox.receipt(tag);
    return receipt !== null && rights.readsMessage(from, receipt);
  }

  function mustFind(tag: string): Message {
    return messageCalled(tag, mailbox);
  }

  function history(tag: string, from: Sender): HistoryView {
    return historyView(rights.shown(from, mailbox.history(mustFind(tag).id)!), tieline);
  }
}

/** How many dead deliveries are looked through for those that an agent may read. */
const deadScanned = 1_000;

function draftOf({ body, summary, when, hard, ttlMs, key, kind, expectsReply, spawn }: Words): Omit<Draft, "to"> {
  const given = { summary, when, hard, ttlMs, kind, expectsReply, spawn, idempotencyKey: key };
  return {
    body,
    ...(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<Draft>),
  };
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

const unprovable = (agent: Agent): TielineError =>
  new TielineError("PROOF_UNAVAILABLE", `nothing can prove that ${agent.name} (${agent.provider}) has seen a message`, {
    remedy: "use --wait delivered, or --wait answered if it will reply",
    operands: { agent: agent.name, provider: agent.provider },
  });

const notYours = (message: Message, from: Sender): TielineError =>
  new TielineError("NOT_PERMITTED", `${message.tag} was sent by ${message.from.name}, not by ${from.name}`, {
    remedy: "only its sender or the user can do this",
    operands: { tag: message.tag, sender: message.from.name },
  });
