/**
 * The first half of a message's way: a draft becomes a stored message with one delivery per recipient, or the
 * sender gets the reason. Nothing here touches a transport; what happens next is in courier.ts.
 */
import { userId, type Agent } from "../model/agent.ts";
import { isBroadcast, parseAddress } from "../model/address.ts";
import type { Delivery } from "../model/delivery.ts";
import type { Emit } from "../model/event.ts";
import { asTielineError, TielineError } from "../model/errors.ts";
import { systemClock, systemRandom, type AgentId, type Clock, type RandomBytes } from "../model/ids.ts";
import { seal, type Draft, type Message, type Sender } from "../model/message.ts";
import type { Receipt } from "../model/receipt.ts";
import { TagTaken, type Mailbox } from "../mailbox/port.ts";

export interface Router {
  /** In place of another: to answer what that one got, as an agent that may approve does for the user. */
  send(draft: Draft, from: Sender, options?: { readonly inPlaceOf?: AgentId }): Promise<Sent>;
  /**
   * The agent that has the name of a removed recipient now, or can be started under it. ADDRESS_UNKNOWN: there is none.
   */
  successorOf(removed: Delivery, message: Message): Agent;
}

export interface Sent {
  readonly receipt: Receipt;
  /** Broadcasts only: who was meant but may not be written to. */
  readonly refused: readonly RefusedRecipient[];
}

export interface RefusedRecipient {
  readonly agent: string;
  readonly error: TielineError;
}

export interface RouterParts {
  readonly mailbox: Pick<Mailbox, "accept" | "receipt">;
  /**
   * Whom an address means; some may be known only by their profile yet. With `spawn`, a team's are all that its project
   * declares. ADDRESS_UNKNOWN with near names, ADDRESS_AMBIGUOUS with candidates, TARGET_NOT_FOUND.
   */
  readonly resolve: (address: string, from: Sender, spawn?: boolean) => Resolved;
  /** Whom of them the sender may write to. ROUTE_DENIED with the allowed targets, unless it is a broadcast. */
  readonly permit: (from: Sender, agents: readonly Agent[], route: Route) => Permitted;
  /** How far the conversation has come; HOP_LIMIT or RATE_LIMITED when it is too long or too fast. */
  readonly guard: (from: Sender, agents: readonly Agent[], inReplyTo: Message | null) => Guarded;
  /** Makes a recipient known to the directory, so that its mail has a place to wait. */
  readonly enlist: (agent: Agent) => Agent;
  /** May this sender's mail start that offline agent? */
  readonly mayStart: (from: Sender, agent: Agent) => boolean;
  readonly emit: Emit;
  readonly clock?: Clock;
  readonly random?: RandomBytes;
}

/** What a permission depends on, other than the two ends. */
export interface Route {
  readonly address: string;
  readonly broadcast: boolean;
  /** What it answers, if the sender got that: its author may be written to without an edge. */
  readonly inReplyTo: Message | null;
}

export interface Resolved {
  readonly agents: readonly Agent[];
  /** Members of a broadcast that are not there. */
  readonly missing: readonly RefusedRecipient[];
}

export interface Permitted {
  readonly recipients: readonly Agent[];
  readonly refused: readonly RefusedRecipient[];
  /** Whom else the sender may write to, for those who watch. */
  readonly allowed: readonly string[];
}

export interface Guarded {
  readonly hops: number;
  /** The recipients that got too much from this sender in the last minute. */
  readonly refused: readonly (RefusedRecipient & Pick<Agent, "id">)[];
}

export function createRouter(parts: RouterParts): Router {
  const { mailbox, resolve, permit, guard, enlist, mayStart, emit, clock = systemClock, random = systemRandom } = parts;

  return {
    async send(draft, from, { inPlaceOf = from.id } = {}) {
      const { inReplyTo, got } = original(draft, from, inPlaceOf);
      const broadcast = isBroadcast(parseAddress(draft.to));
      const { agents, missing } = resolve(draft.to, from, draft.spawn);
      const {
        recipients: permitted,
        refused,
        allowed,
      } = permit(from, agents, { address: draft.to, broadcast, inReplyTo: got ? inReplyTo : null });
      const { hops, refused: crowded } = guard(from, permitted, inReplyTo);
      if (crowded.length > 0 && !broadcast) throw crowded[0]!.error;
      const recipients = permitted.filter(({ id }) => !crowded.some((one) => one.id === id));
      const starts = (draft.spawn ?? !broadcast) && recipients.some((agent) => mayStart(from, agent));
      const receipt = await accept(
        () => seal(draft, from, { inReplyTo, hops, starts, team: filedUnder(from, recipients) }, { clock, random }),
        recipients.map(enlist),
        allowed,
      );
      return { receipt, refused: [...missing, ...refused, ...crowded] };
    },

    successorOf(removed, message) {
      const { from, starts } = message;
      const address = addressOf(removed, message);
      const broadcast = isBroadcast(parseAddress(address));
      const [agent] = whereKnown(() => resolve(address, from, broadcast && starts).agents).filter(
        ({ name }) => name === removed.agentName,
      );
      if (agent === undefined) throw nameless(removed, message);
      const { recipients, refused } = permit(from, [agent], { address, broadcast, inReplyTo: null });
      if (recipients.length === 0) throw refused[0]!.error;
      return enlist(recipients[0]!);
    },
  };

  /** A reply is addressed by id; the message that it answers tells the name and the team behind that id. */
  function addressOf({ agent }: Delivery, { to, inReplyTo }: Message): string {
    const author = inReplyTo === null ? undefined : mailbox.receipt(inReplyTo)?.message.from;
    return to === agent && author?.id === agent ? `${author.team}:${author.name}` : to;
  }

  /** Only participants continue a conversation. For others there is no such message. */
  function original(
    draft: Draft,
    from: Sender,
    answerer: AgentId,
  ): { readonly inReplyTo: Message | null; readonly got: boolean } {
    if (draft.inReplyTo === undefined) return { inReplyTo: null, got: false };
    const receipt = mailbox.receipt(draft.inReplyTo);
    const got = receipt?.deliveries.some(({ agent }) => agent === answerer) ?? false;
    if (receipt && (got || receipt.message.from.id === from.id || from.id === userId || from.knownBy === "object"))
      return { inReplyTo: receipt.message, got };
    throw new TielineError("MESSAGE_UNKNOWN", `there is no message ${draft.inReplyTo} to reply to`, {
      remedy: "`tieline inbox` lists what can be answered",
      operands: { message: draft.inReplyTo },
    });
  }

  /** A tag is eight random digits; the rare one that is taken is drawn again. */
  async function accept(
    sealed: () => Message,
    recipients: readonly Agent[],
    allowed: readonly string[],
  ): Promise<Receipt> {
    for (;;) {
      const message = sealed();
      try {
        const receipt = await mailbox.accept(message, recipients);
        if (receipt.message.id === message.id) announce(receipt, recipients, allowed);
        return receipt;
      } catch (thrown) {
        if (!(thrown instanceof TagTaken)) throw thrown;
      }
    }
  }

  function announce(
    { message: { tag, from, to } }: Receipt,
    agents: readonly Agent[],
    allowed: readonly string[],
  ): void {
    emit({
      type: "route.routed",
      from: from.name,
      to,
      team: from.team,
      tag,
      recipients: agents.map(({ name }) => name),
      recipientTeams: agents.map((agent) => agent.team || null),
      allowed,
    });
  }
}

/** The user is in no team of their own, so their mail belongs to the team that they write to. */
function filedUnder(from: Sender, recipients: readonly Agent[]): string {
  const [first, ...others] = new Set(recipients.map(({ team }) => team));
  return from.id === userId && first && others.length === 0 ? first : from.team;
}

function whereKnown(resolved: () => readonly Agent[]): readonly Agent[] {
  try {
    return resolved();
  } catch (thrown) {
    if (["ADDRESS_UNKNOWN", "TARGET_NOT_FOUND"].includes(asTielineError(thrown).code)) return [];
    throw thrown;
  }
}

const nameless = ({ agentName }: Delivery, { tag }: Message): TielineError =>
  new TielineError(
    "ADDRESS_UNKNOWN",
    `${tag} cannot be retried: ${agentName} was removed, and no agent or profile has that name now`,
    {
      remedy:
        `start or adopt an agent named ${agentName}, then retry; or send the text to another agent, \`tieline ` +
        `show ${tag}\` prints it`,
      operands: { address: agentName, tag },
    },
  );
