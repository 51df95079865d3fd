/** What an opencode keeps of its conversation says how far a message of ours has come. */
import type { MessageId } from "../../model/ids.ts";

export interface ConversationEntry {
  readonly info: { readonly id: string; readonly role: "user" | "assistant"; readonly error?: EntryError };
  readonly parts: readonly { readonly id: string; readonly type: string }[];
}

/** Why the model did not answer, once opencode has given up. */
interface EntryError {
  readonly name: string;
  readonly data?: { readonly message?: string; readonly statusCode?: number };
}

export type MessageProgress =
  /** The conversation does not hold it. */
  | { readonly kind: "absent" }
  /** It is written down, and no request to the model was made since. */
  | { readonly kind: "waiting"; readonly entry: string }
  /** A request holds it; the model has not begun to answer, or its API failed. */
  | { readonly kind: "asked"; readonly failure?: string }
  /** The model answers the request that contains it. */
  | { readonly kind: "read" };

/** A part's id names the message. Each attempt has its own, because opencode moves a part whose id it knows. */
export const partId = (message: MessageId, attempt: number): string => `${partPrefix(message)}_${attempt.toString(36)}`;
const partPrefix = (message: MessageId): string => `prt_${message.replaceAll("-", "")}`;

export function progressOf(message: MessageId, conversation: readonly ConversationEntry[]): MessageProgress {
  const at = conversation.findLastIndex(({ parts }) => parts.some(({ id }) => id.startsWith(partPrefix(message))));
  if (at < 0) return { kind: "absent" };
  const answers = conversation.slice(at + 1).filter(({ info }) => info.role === "assistant");
  if (answers.some(({ parts }) => parts.some(({ type }) => type === "step-start"))) return { kind: "read" };
  const error = answers.at(-1)?.info.error;
  if (error !== undefined && error.name !== interrupted) return { kind: "asked", failure: wordsOf(error) };
  return answers.length > 0 ? { kind: "asked" } : { kind: "waiting", entry: conversation[at]!.info.id };
}

/** The user did that, and no API. */
const interrupted = "MessageAbortedError";

const wordsOf = ({ name, data }: EntryError): string =>
  [data?.statusCode, data?.message ?? name].filter(Boolean).join(" ");
