import type { HistoryView } from "../../src/client/browser.ts";

export type Step = HistoryView["steps"][number];

/** Steps that differ only in time, one after the other. */
export interface Fold {
  readonly steps: readonly Step[];
  /** Steps among them that the daemon no longer keeps. */
  readonly leftOut: number;
}

/** It waits again, after an attempt or without one. */
export const isHold = ({ verb, to }: Step): boolean => verb === "hold" || (verb === "settle" && to === "queued");

const sameKind = (a: Step, b: Step): boolean =>
  (isHold(a) ? isHold(b) : a.verb === b.verb && a.from === b.from && a.to === b.to) &&
  a.reason === b.reason &&
  a.proof === b.proof &&
  a.transport === b.transport;

/** Joins repeated steps, such as the attempts of an hour. An attempt that ends in a hold is one step with it. */
export function fold(steps: readonly Step[]): readonly Fold[] {
  const folds: { steps: Step[]; leftOut: number }[] = [];
  let missing = 0;
  for (const [at, step] of steps.entries()) {
    missing += step.leftOut ?? 0;
    const next = steps[at + 1];
    if (step.to === "claimed" && next !== undefined && isHold(next)) continue;
    const last = folds.at(-1);
    if (last !== undefined && sameKind(last.steps[0]!, step)) {
      last.steps.push(step);
      last.leftOut += missing;
    } else folds.push({ steps: [step], leftOut: missing });
    missing = 0;
  }
  return folds;
}
