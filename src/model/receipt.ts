import type { Delivery, DeliveryState, Transition } from "./delivery.ts";
import type { Message } from "./message.ts";

/** The sender's view of a message: its state for each recipient. */
export interface Receipt {
  readonly message: Message;
  readonly deliveries: readonly Delivery[];
}

/** A receipt with each delivery's history, oldest step first. */
export interface History extends Receipt {
  readonly steps: ReadonlyMap<Delivery["id"], readonly Transition[]>;
}

export const wantedStates = ["delivered", "seen", "answered"] as const;
export type Wanted = (typeof wantedStates)[number];

const progress: Record<DeliveryState, number> = {
  queued: 0,
  claimed: 0,
  uncertain: 0,
  failed: -1,
  expired: -1,
  cancelled: -1,
  delivered: 1,
  seen: 2,
  answered: 3,
};

/** Has this delivery got as far as is waited for? `never`: not without something that a user does first. */
export function reached(
  delivery: Pick<Delivery, "state" | "answeredAt" | "warning">,
  wanted: Wanted,
): "yes" | "not yet" | "never" {
  if (delivery.answeredAt !== null) return "yes";
  const now = progress[delivery.state];
  if (now < 0) return "never";
  if (now >= progress[wanted]) return "yes";
  return isUnread(delivery) ? "never" : "not yet";
}

/** It was delivered, and something keeps the model from it: its API failed, or the text left no trace. */
export const isUnread = ({ state, warning }: Pick<Delivery, "state" | "warning">): boolean =>
  state === "delivered" && warning !== null;
