/** One thing done to many messages, one after the other, with what became of each. */
import { mayHaveArrived, TielineError, type ReceiptView } from "../../src/client/browser.ts";
import { failureOf } from "../actions.ts";
import { inTeam } from "../api.ts";
import type { DeliveryName } from "../deliveries.ts";
import { mergeReceipts } from "../messages.ts";

export type Verb = "cancel" | "retry";

export interface Selected extends DeliveryName {
  readonly key: string;
  readonly from: string;
  readonly state: string;
}

/** `not known`: the daemon went away while it was asked. `not tried`: it was away before. */
export type BulkOutcome = "done" | "failed" | "not known" | "not tried";

export interface Result {
  readonly message: Selected;
  readonly outcome: BulkOutcome;
  readonly detail: string;
}

const takes: Record<Verb, readonly string[]> = {
  cancel: ["queued", "uncertain"],
  retry: ["uncertain", "failed", "expired", "cancelled"],
};

export const those = (verb: Verb, messages: readonly Selected[]): readonly Selected[] =>
  messages.filter(({ state }) => takes[verb].includes(state));

export async function runAll(
  verb: Verb,
  messages: readonly Selected[],
  onResult: (result: Result) => void,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  let isAway = false;
  for (const message of messages) {
    const result: Result = isAway
      ? { message, outcome: "not tried", detail: "the daemon was away" }
      : await runOne(verb, message);
    isAway ||= result.outcome === "not known" || result.detail === never;
    results.push(result);
    onResult(result);
  }
  return results;
}

const never = "the daemon does not answer";

async function runOne(verb: Verb, message: Selected): Promise<Result> {
  const { tag, team, agent } = message;
  try {
    const receipt = await inTeam(team).call(verb, { tag, ...(agent !== null && { agent }) });
    mergeReceipts([receipt]);
    return { message, ...outcomeIn(verb, receipt, agent) };
  } catch (thrown) {
    if (!(thrown instanceof TielineError) || thrown.code !== "DAEMON_UNAVAILABLE")
      return { message, outcome: "failed", detail: failureOf(thrown).message };
    return mayHaveArrived(thrown)
      ? { message, outcome: "not known", detail: "the daemon stopped answering" }
      : { message, outcome: "not tried", detail: never };
  }
}

/** A message may have moved on between the selection and the act. */
function outcomeIn(verb: Verb, { deliveries }: ReceiptView, agent: string | null): Omit<Result, "message"> {
  const meant = deliveries.filter((one) => agent === null || one.agent === agent);
  const isChanged = ({ state }: { state: string }): boolean =>
    verb === "cancel" ? state === "cancelled" : !takes.retry.includes(state);
  const left = meant.filter((one) => !isChanged(one)).map((one) => `${one.agent} is ${one.state}`);
  if (left.length === 0 && meant.length > 0)
    return { outcome: "done", detail: verb === "cancel" ? "cancelled" : "queued again" };
  const detail = meant.length === 0 ? "it has no such recipient" : left.join(", ");
  return { outcome: left.length < meant.length ? "done" : "failed", detail };
}
