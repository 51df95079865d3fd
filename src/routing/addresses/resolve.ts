import { type Address, parseAddress } from "../../model/address.ts";
import { resolveBroadcast, type ResolveOptions } from "./broadcast.ts";
import { ambiguous, notFound } from "./refusal.ts";
import type { AddressExplanation, Resolution, ResolutionStep } from "./resolution.ts";
import { type Asker, type Finding, type Lookups, type Rule, rules, type SingleAddress } from "./rules.ts";

/**
 * Text to agents: the one resolver behind every command. Throws ADDRESS_UNKNOWN, ADDRESS_AMBIGUOUS or TARGET_NOT_FOUND.
 */
export function resolve(text: string, asker: Asker, lookups: Lookups, options: ResolveOptions = {}): Resolution {
  const { resolution, error } = resolveAddress(parseAddress(text), asker, lookups, options);
  if (error) throw error;
  return resolution!;
}

/** The same, with every rule that was tried; a refusal is part of the answer. */
export function explain(text: string, asker: Asker, lookups: Lookups): AddressExplanation {
  return resolveAddress(parseAddress(text), asker, lookups);
}

function resolveAddress(
  address: Address,
  asker: Asker,
  lookups: Lookups,
  options: ResolveOptions = {},
): AddressExplanation {
  if (address.kind === "name" || address.kind === "pane") return resolveSingle(address, asker, lookups);
  return resolveBroadcast(address, asker, lookups, resolveSingle, options);
}

function resolveSingle(address: SingleAddress, asker: Asker, lookups: Lookups): AddressExplanation {
  const steps: ResolutionStep[] = [];
  for (const rule of rules) {
    const finding = rule.find(address, asker, lookups);
    if (finding === null) continue;
    const found = finding.hits.length > 0 || finding.startable !== undefined;
    steps.push({ rule: rule.name, says: rule.says, hit: found, why: finding.why });
    if (finding.hits.length > 1) return { steps, resolution: null, error: ambiguous(address, asker, finding.hits) };
    if (found) return { steps, resolution: resolution(address, rule, finding), error: null };
  }
  return { steps, resolution: null, error: notFound(address, asker, lookups) };
}

function resolution(address: Address, rule: Rule, { hits, startable }: Finding): Resolution {
  return { address, rule: rule.name, agents: hits, startable: startable ? [startable] : [], missing: [] };
}
