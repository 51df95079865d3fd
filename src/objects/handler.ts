/**
 * What a user writes to add a participant that is not an agent: a module with these functions, by name or as its
 * default export, or a default function that makes them. docs/objects.md shows one.
 */
export interface ObjectHandler {
  /** What it understands, for people and agents to read. */
  readonly interface?: unknown;
  /** Called once before the first message. A handler that throws here is started again later. */
  init?(api: ObjectApi, options: Readonly<Record<string, unknown>>): void | Promise<void>;
  /**
   * Called for one message at a time. Returning says that the message was taken. Throwing says that it was not: it
   * comes again later, unless the error is a Refusal.
   */
  onMessage(from: string, content: string, api: MessageApi): void | Promise<void>;
  close?(): void | Promise<void>;
}

export interface ObjectApi {
  readonly name: string;
  readonly team: string;
  /** Resolves when the message is stored; rejects with why it was refused. */
  send(to: string, content: string, options?: ObjectSendOptions): Promise<Accepted>;
  /** To all agents that the object has an edge to. */
  broadcast(content: string): Promise<Accepted>;
  /** A line in the daemon's log. */
  log(text: string): void;
}

export interface MessageApi extends ObjectApi {
  readonly message: ReceivedMessage;
  reply(content: string): Promise<Accepted>;
}

export interface ObjectSendOptions {
  /** The same key again is the same message, however often it is sent. */
  readonly key?: string;
  /** May the message start a recipient that is offline? Default: as for other senders. */
  readonly spawn?: boolean;
}

export interface ReceivedMessage {
  readonly id: string;
  readonly tag: string;
  /** The sender's name, with its team in front when that is another one. */
  readonly from: string;
  /** The sender's id, which is an address too and outlives a change of name. */
  readonly fromId: string;
  readonly content: string;
  readonly kind: string;
  readonly inReplyTo: string | null;
  readonly sentAt: number;
}

export interface Accepted {
  readonly id: string;
  readonly tag: string;
  readonly successful: readonly string[];
  readonly failed: readonly { readonly agent: string; readonly code: string; readonly message: string }[];
}

/** Says that a retry is of no use: the message fails at once, and its sender gets the reason. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly permanent = true;
}
