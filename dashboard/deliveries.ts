/** What a user does to a delivery. Cancelling can be undone: the message is queued again, with the same tag. */
import { attempt, tell } from "./actions.ts";
import { inTeam } from "./api.ts";
import { mergeReceipts } from "./messages.ts";
import { refreshWaiting } from "./refresh.ts";

export interface DeliveryName {
  readonly tag: string;
  readonly team: string;
  /** Null: all recipients. */
  readonly agent: string | null;
}

async function change(verb: "cancel" | "retry", { tag, team, agent }: DeliveryName): Promise<boolean> {
  const worked = await attempt(async () =>
    mergeReceipts([await inTeam(team).call(verb, { tag, ...(agent !== null && { agent }) })]),
  );
  await attempt(refreshWaiting);
  return worked;
}

export async function cancel(delivery: DeliveryName): Promise<boolean> {
  const worked = await change("cancel", delivery);
  if (worked)
    tell(`Cancelled ${delivery.tag}${delivery.agent === null ? "" : ` to ${delivery.agent}`}`, {
      undo: () => void retry(delivery),
    });
  return worked;
}

export async function retry(delivery: DeliveryName): Promise<boolean> {
  const worked = await change("retry", delivery);
  if (worked) tell(`${delivery.tag} is queued again`);
  return worked;
}
