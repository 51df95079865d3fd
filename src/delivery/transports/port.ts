import type { Agent, Endpoint } from "../../model/agent.ts";
import type { Authority, Delivery, Hold, Outcome, Proof } from "../../model/delivery.ts";
import type { Envelope } from "../../model/envelope.ts";
import type { Message, When } from "../../model/message.ts";

/**
 * How text reaches one agent. A transport writes at most once per call of deliver, and tells the truth
 * about it; deciding when, in which order and how often is the courier's work.
 */
export interface Transport {
  readonly name: string;
  readonly traits: TransportTraits;

  /** Whose word this message counts as there, where that is not the same for all. */
  authorityOf?(message: Message): Authority;

  /**
   * What goes out there for a message, so that its receipt can say what is missing in it; left out: an outcome's notes
   * say it.
   */
  envelopeOf?(message: Message, agent: Agent): Envelope;

  /**
   * The earliest moment of a turn at which it reaches this agent; null: the agent does not have it. Left out: the end
   * of the turn.
   */
  earliest?(agent: Agent): When | null;

  /**
   * May this delivery be written now? Reads only; nothing at the recipient changes. A hold says why not, for
   * people to read. Must not throw for a recipient that is gone: that is `gone`.
   */
  ready(attempt: Attempt): Promise<Readiness>;

  /**
   * A message for this agent is on its way to the disk, and `ready` is likely to be asked in a moment: what takes time
   * to read may be read meanwhile. Reads only, and must not throw.
   */
  prefetch?(agent: Agent, endpoint: Endpoint): void;

  /**
   * Writes once. Called only under a claim, one at a time per agent. After it began to write it may no longer
   * answer held, gone or error unless it can prove that nothing arrived; what it cannot tell is `unknown`.
   */
  deliver(attempt: Attempt, signal: AbortSignal): Promise<Outcome>;

  /** After a lost attempt: did it arrive? May finish what was begun. `unknown` means no proof either way. */
  inspect(attempt: Attempt): Promise<Outcome>;

  /** Calls back whenever this endpoint may have become ready. At most until the disposer is called. */
  watch(agent: Agent, endpoint: Endpoint, changed: () => void): Disposable;
}

/** A transport that can be probed without a message, as far as that works without writing. */
export interface ProbingTransport extends Transport {
  probe(agent: Agent, endpoint: Endpoint): Promise<Readiness>;
}

export interface TransportTraits {
  /** The best proof that this transport can give. */
  readonly bestProof: Proof;
  /** Whether the model reads the text as the user's words or as a peer's. */
  readonly authority: Authority;
  readonly rank: TransportRank;
  /** Text here starts no turn, so acks and bounces are written too. */
  readonly quiet?: boolean;
  /** The agent fetches its mail here by itself. */
  readonly fetched?: boolean;
  /** Programs talk to each other here; a model would take the same for text. */
  readonly protocol?: boolean;
  /** An agent with such an endpoint gets all its mail there. */
  readonly exclusive?: boolean;
  /** Writes by several transports at once; for mail that waits for the end of a turn. */
  readonly combined?: boolean;
  /** A program that reads an input stream does not read its terminal. */
  readonly input?: "terminal" | "stream";
}

/** The preference among an agent's endpoints: the lowest comes first, the same keeps the agent's order. */
export interface TransportRank {
  /** For mail from the user that waits for the end of a turn. */
  readonly atTurnEnd: number;
  /** For mail from the user that is sent with `--when tool` or `interrupt`. */
  readonly inTurn: number;
  /** For mail from agents. */
  readonly fromAgent: number;
}

/** For a transport that is never chosen before another one. */
export const lowestRank: TransportRank = { atTurnEnd: 100, inTurn: 100, fromAgent: 100 };

export interface Attempt {
  readonly message: Message;
  readonly delivery: Delivery;
  readonly agent: Agent;
  readonly endpoint: Endpoint;
  /** Names the attempt among all mailboxes, for marks that outlive us: `mailbox:delivery:claimedAt`. */
  readonly mark: string;
  /** What `ready` saw, given back to `deliver`, so that it need not read twice. */
  readonly observed?: unknown;
}

/** A hold without a signal that ends it says when to ask again. */
export type Readiness =
  | { readonly kind: "ready"; readonly observed?: unknown }
  | { readonly kind: "held"; readonly hold: Hold; readonly againInMs?: number }
  | { readonly kind: "gone"; readonly detail: string };
