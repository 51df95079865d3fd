import type { Delivery, DeliveryState, Transition } from "./delivery.ts";
import type { Message } from "./message.ts";

/** The sender's view of a message: what became of it, for each recipient. */
export interface Receipt {
  readonly message: Message;
  readonly deliveries: readonly Delivery[];
}

/** A receipt with each delivery's history, oldest step first. */
export interface Story extends Receipt {
  readonly history: ReadonlyMap<Delivery["id"], readonly Transition[]>;
}

export const wantedStates = ["handed", "seen", "answered"] as const;
export type Wanted = (typeof wantedStates)[number];

const progress: Record<DeliveryState, number> = {
  queued: 0,
  claimed: 0,
  uncertain: 0,
  failed: -1,
  expired: -1,
  cancelled: -1,
  handed: 1,
  seen: 2,
  answered: 3,
};

/** Has this delivery got as far as somebody waits for? `never`: it cannot any more without a person's help. */
export function reached(delivery: Delivery, wanted: Wanted): "yes" | "not yet" | "never" {
  if (delivery.answeredAt !== null) return "yes";
  const now = progress[delivery.state];
  if (now < 0) return "never";
  return now >= progress[wanted] ? "yes" : "not yet";
}
