import fc from "fast-check";
import { holdReasons, proofs, type Lane, type Outcome, type Proof } from "../model/delivery.ts";

/** One step of a walk over mailboxes. Numbers pick from what exists when the step runs. */
export type Action =
  | {
      do: "accept";
      from: number;
      to: number[];
      kind: "text" | "ack" | "shutdown_request";
      when: number;
      ttlMs: number | null;
      key: string | null;
      reply: number | null;
    }
  | { do: "accept again"; message: number; sameId: boolean }
  | { do: "claim"; delivery: number; lane: Lane }
  | { do: "hold"; delivery: number; reason: number }
  | { do: "settle"; delivery: number; outcome: Outcome }
  | { do: "confirm"; delivery: number; proof: Proof }
  | { do: "warn" | "note" | "abandon" | "read"; delivery: number }
  | { do: "cancel" | "retry"; message: number; agent: number | null }
  | { do: "expire" }
  | { do: "recover"; scope: "start" | "leases" }
  | { do: "restored" }
  | { do: "prune"; olderMs: number; freshMs: number; crowded: boolean; batch: number };

const pick = fc.nat({ max: 1_000 });
const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.constantFrom(...proofs).map((proof): Outcome => ({ kind: "delivered", proof })),
  fc
    .constantFrom(...holdReasons)
    .map((reason): Outcome => ({ kind: "held", hold: { reason, detail: `it is ${reason}` } })),
  fc
    .constantFrom("gone", "error", "error", "absent", "unknown", "discarded", "removed")
    .map((kind): Outcome => ({ kind, detail: `it was ${kind}` })),
);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("accept" as const),
      from: pick,
      to: fc.subarray([0, 1, 2, 3], { minLength: 1 }),
      kind: fc.constantFrom("text", "text", "text", "ack", "shutdown_request"),
      when: pick,
      ttlMs: fc.option(fc.integer({ min: 1, max: 20_000 })),
      key: fc.option(fc.constantFrom("k1", "k2"), { freq: 4 }),
      reply: fc.option(pick),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("accept again" as const), message: pick, sameId: fc.boolean() }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("claim" as const),
      delivery: pick,
      lane: fc.constantFrom<Lane>("push", "push", "pull"),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("hold" as const), delivery: pick, reason: fc.nat({ max: 2 }) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant("settle" as const), delivery: pick, outcome }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("confirm" as const), delivery: pick, proof: fc.constantFrom(...proofs) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("warn" as const, "note" as const), delivery: pick }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("abandon" as const, "read" as const), delivery: pick }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("cancel" as const, "retry" as const),
      message: pick,
      agent: fc.option(pick),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("expire" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restored" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("recover" as const),
      scope: fc.constantFrom("start" as const, "leases" as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("prune" as const),
      olderMs: fc.nat({ max: 30_000 }),
      freshMs: fc.nat({ max: 30_000 }),
      crowded: fc.boolean(),
      batch: fc.integer({ min: 1, max: 3 }),
    }),
  },
);
/** What is asked for together shares a commit; time passes between, and now and then the process is a new one. */
export const turn = fc.record({
  together: fc.array(action, { minLength: 1, maxLength: 4 }),
  passMs: fc.oneof(fc.constant(0), fc.nat({ max: 12_000 })),
  restart: fc.boolean().chain((maybe) => (maybe ? fc.nat({ max: 9 }).map((n) => n === 0) : fc.constant(false))),
});
