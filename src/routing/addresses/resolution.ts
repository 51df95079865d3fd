import type { Address } from "../../model/address.ts";
import type { Agent } from "../../model/agent.ts";
import type { TielineError } from "../../model/errors.ts";
import type { Rule, Startable } from "./rules.ts";

/** Whom an address means. */
export interface Resolution {
  readonly address: Address;
  readonly rule: Rule["name"] | "all" | "team" | "alias" | "everyone";
  /** Who gets a delivery. `isLive` and `canStart` tell who is there and who mail can start again. */
  readonly agents: readonly Agent[];
  /** Who would have to be started from a profile first; a single address has at most one. */
  readonly startable: readonly Startable[];
  /** Members of a broadcast with nothing behind them, each with its refusal. */
  readonly missing: readonly { readonly name: string; readonly error: TielineError }[];
}

/** One rule that was tried. */
export interface ResolutionStep {
  readonly rule: string;
  readonly says: string;
  readonly hit: boolean;
  readonly why: string;
}

/** Exactly one of resolution and error is there. */
export interface AddressExplanation {
  readonly steps: readonly ResolutionStep[];
  readonly resolution: Resolution | null;
  readonly error: TielineError | null;
}
