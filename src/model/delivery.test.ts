import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  deadStates,
  defaultMaxAttempts,
  deliveryStates,
  holdReasons,
  mayFollow,
  openStates,
  proofs,
  provesSeen,
  stateAfter,
  strongerProof,
  transitions,
  verbs,
  type DeliveryState,
  type Outcome,
} from "./delivery.ts";

const waysOut = (state: DeliveryState): { verb: string; to: DeliveryState }[] =>
  transitions.filter(([from]) => from === state).flatMap(([, verb, targets]) => targets.map((to) => ({ verb, to })));

const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.constantFrom(...proofs).map((proof): Outcome => ({ kind: "delivered", proof })),
  fc.constantFrom(...holdReasons).map((reason): Outcome => ({ kind: "held", hold: { reason, detail: "" } })),
  fc.constantFrom("gone", "error", "absent", "unknown", "removed").map((kind): Outcome => ({ kind, detail: "" })),
);

describe("the transition table", () => {
  test("names each pair of state and verb once, with known words", () => {
    const pairs = transitions.map(([from, verb]) => `${from} ${verb}`);
    expect(new Set(pairs).size).toBe(pairs.length);
    for (const [from, verb, targets] of transitions) {
      expect(verbs).toContain(verb);
      for (const state of [from ?? "queued", ...targets]) expect(deliveryStates).toContain(state);
    }
    expect(new Set(transitions.map(([, verb]) => verb)).size).toBe(verbs.length);
  });

  test("a life begins with accept and in no other way", () => {
    expect(transitions.filter(([from]) => from === null)).toEqual([[null, "accept", ["queued"]]]);
    expect(transitions.filter(([, verb]) => verb === "accept")).toHaveLength(1);
  });

  test("every state can be reached", () => {
    const reached = new Set<DeliveryState>(["queued"]);
    for (const state of reached) for (const { to } of waysOut(state)) reached.add(to);
    expect([...reached].toSorted()).toEqual([...deliveryStates].toSorted());
  });

  test("only answered has no way on; from everywhere else a good end can still be reached", () => {
    for (const state of deliveryStates) {
      const ahead = new Set<DeliveryState>([state]);
      for (const one of ahead) for (const { to } of waysOut(one)) ahead.add(to);
      expect(ahead, state).toContain("answered");
    }
    expect(deliveryStates.filter((state) => waysOut(state).length === 0)).toEqual(["answered"]);
  });

  test("what was seen is never sent again, and what was delivered only after it was found to be lost", () => {
    const ahead = (state: DeliveryState): DeliveryState[] => waysOut(state).map(({ to }) => to);
    for (const back of [...openStates, ...deadStates]) expect(ahead("seen")).not.toContain(back);
    expect(waysOut("delivered").filter(({ to }) => !["delivered", "seen", "answered"].includes(to))).toEqual([
      { verb: "settle", to: "uncertain" },
      { verb: "settle", to: "failed" },
    ]);
  });

  test("only waiting mail expires; an attempt in flight cannot be cancelled", () => {
    expect(transitions.filter(([, verb]) => verb === "expire").map(([from]) => from)).toEqual(["queued"]);
    expect(transitions.filter(([, verb]) => verb === "cancel").map(([from]) => from)).toEqual(["queued", "uncertain"]);
    expect(mayFollow("claimed", "cancel", "cancelled")).toBe(false);
  });

  test("a dead letter moves only when a user retries it", () => {
    for (const state of [...deadStates, "cancelled"] as const) {
      const leaving = waysOut(state).filter(({ to }) => to !== state);
      expect(leaving).toEqual([{ verb: "retry", to: "queued" }]);
    }
  });

  test("mayFollow says what the table says, for every combination", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(null, ...deliveryStates),
        fc.constantFrom(...verbs),
        fc.constantFrom(...deliveryStates),
        (from, verb, to) => {
          const written =
            from === null
              ? from === null && verb === "accept" && to === "queued"
              : waysOut(from).some((way) => way.verb === verb && way.to === to);
          expect(mayFollow(from, verb, to)).toBe(written);
        },
      ),
    );
  });
});

describe("outcomes", () => {
  test("whatever a transport reports of a claim, the table has a place for it", () => {
    fc.assert(
      fc.property(outcome, fc.nat({ max: 5 }), fc.integer({ min: 1, max: 5 }), (reported, attempts, maxAttempts) => {
        const after = stateAfter(reported, attempts, maxAttempts);
        expect(mayFollow("claimed", "settle", after.state)).toBe(true);
        expect(after.attempts - attempts).toBe(reported.kind === "error" || reported.kind === "absent" ? 1 : 0);
      }),
    );
  });

  test("errors end in a dead letter after the last attempt, and holds never do", () => {
    const walk = (reported: Outcome): DeliveryState[] => {
      let attempts = 0;
      return Array.from({ length: defaultMaxAttempts }, () => {
        const after = stateAfter(reported, attempts);
        attempts = after.attempts;
        return after.state;
      });
    };
    expect(walk({ kind: "error", detail: "" })).toEqual(["queued", "queued", "failed"]);
    expect(walk({ kind: "held", hold: { reason: "busy", detail: "" } })).toEqual(["queued", "queued", "queued"]);
    expect(walk({ kind: "gone", detail: "" })).toEqual(["queued", "queued", "queued"]);
    expect(walk({ kind: "removed", detail: "" })).toEqual(["failed", "failed", "failed"]);
  });

  test("doubt is never taken for arrival", () => {
    expect(stateAfter({ kind: "unknown", detail: "" }, 0).state).toBe("uncertain");
    expect(openStates).toContain("uncertain");
  });
});

describe("proofs", () => {
  test("are in strict order, weakest first", () => {
    fc.assert(
      fc.property(fc.constantFrom(...proofs), fc.constantFrom(...proofs), (a, b) => {
        expect(strongerProof(a, b)).toBe(proofs.indexOf(b) > proofs.indexOf(a));
        expect(strongerProof(a, b) && strongerProof(b, a)).toBe(false);
      }),
    );
    for (const proof of proofs) expect(strongerProof(null, proof)).toBe(true);
  });

  test("what proves seen is stronger than all that does not", () => {
    const seen = proofs.filter(provesSeen);
    expect(seen).toEqual(["transcript", "tool", "reply"]);
    for (const strong of seen)
      for (const weak of proofs.filter((proof) => !provesSeen(proof))) expect(strongerProof(weak, strong)).toBe(true);
  });
});
