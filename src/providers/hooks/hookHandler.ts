/** What is asked about a hook call. A handler says which events it wants and what its failure means. */
import type { Agent } from "../../model/agent.ts";
import type { HookCall } from "./hookCall.ts";

/**
 * - observer: has no answer. When it fails, the agent continues.
 * - speaker: has text for the model. When it fails, the text is not said, and the agent continues.
 * - guard: can refuse. When it fails, it refuses.
 */
export type HandlerKind = "observer" | "speaker" | "guard";

export interface HookHandler {
  readonly name: string;
  readonly events: readonly string[];
  /** What it may do; it also says what its failure means. */
  readonly kind: HandlerKind;
  /** Undefined: nothing to say. */
  handle(call: HookCall, agent: Agent): Promise<HandlerAnswer | undefined>;
}

/** A refusal, or text that the model should read. Exactly one of `written` and `lost` follows, once. */
export type HandlerAnswer = (
  | { readonly refusal: string; readonly context?: never }
  | { readonly context: string; readonly refusal?: never }
) & {
  /** The answer was written. Only now may a delivery be marked. */
  readonly written?: () => Promise<void>;
  /** The answer was not written. */
  readonly lost?: () => Promise<void>;
};

export interface Verdict {
  readonly refusal: string | null;
  readonly context: string | null;
  written(): Promise<void>;
  lost(): Promise<void>;
}

export interface HookChain {
  run(call: HookCall, agent: Agent): Promise<Verdict>;
  /** For a call whose program does not wait for an answer: only the observers get the call. */
  observe(call: HookCall, agent: Agent): Promise<void>;
}
