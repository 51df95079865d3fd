import { userId, switchId } from "../model/agent.ts";
import { TielineError } from "../model/errors.ts";
import type { Message } from "../model/message.ts";
import type { Store } from "./store.ts";

/** From here on finished messages are removed, so that the limit itself is rarely met. */
export const fullFrom = 0.9;
/** Agents may fill this much; the rest is for the user, who must be able to write to them. */
const agentsShare = 0.95;
/** What a message takes beside its text: its envelope, its history, its place in the indexes. */
const bytesPerMessage = 2_000;

/**
 * How much room the mailbox has. What is in it is never removed to make room for a new message, unless it is finished
 * and may be unneeded; so the new message is refused.
 */
export class Room {
  #used: number;
  #isNearlyFull = false;

  constructor(
    private readonly store: Pick<Store, "usedBytes">,
    private readonly maxBytes: number,
    private readonly onNearlyFull: () => void,
  ) {
    this.#used = store.usedBytes();
  }

  /** Throws STORE_FULL. Far from the limit it only adds up; near it the store is asked. */
  take(message: Message, recipients: number): void {
    if (this.maxBytes === Infinity) return;
    const bytes = message.body.length + bytesPerMessage * (1 + recipients);
    if (this.#used + bytes > this.maxBytes * fullFrom) {
      this.#used = this.store.usedBytes();
      this.#isNearlyFull = this.#used + bytes > this.maxBytes * fullFrom;
    }
    const isAgents = message.from.id !== userId && message.from.id !== switchId;
    const limit = isAgents ? this.maxBytes * agentsShare : this.maxBytes;
    if (this.#isNearlyFull) this.onNearlyFull();
    if (this.#used + bytes > limit) throw full(this.#used, limit, isAgents);
    this.#used += bytes;
  }
}

function full(used: number, limit: number, isAgents: boolean): TielineError {
  const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
  return new TielineError(
    "STORE_FULL",
    `the mailbox is full: ${megabytes(used)} of ${megabytes(limit)} that ${isAgents ? "agents" : "messages"} ` +
      "may use hold mail that waits, was delivered within the last hour or is unanswered",
    {
      remedy:
        "let agents read their mail, cancel messages you no longer need (`tieline ls`, `tieline cancel " +
        "TAG`), or raise retention.maxMegabytes in config.json and run `tieline daemon stop`",
      operands: { used, limit },
    },
  );
}
