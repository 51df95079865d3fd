import { expect, test } from "bun:test";
import { singleFlight } from "./singleFlight.ts";

test("runs one at a time, and once more for everything that came meanwhile", async () => {
  const gates: PromiseWithResolvers<void>[] = [];
  let [running, most] = [0, 0];
  const ring = singleFlight(async () => {
    most = Math.max(most, ++running);
    const gate = Promise.withResolvers<void>();
    gates.push(gate);
    await gate.promise;
    running--;
  });
  const first = ring();
  const later = [ring(), ring(), ring()];
  expect(gates).toHaveLength(1);
  gates[0]!.resolve();
  await first;
  await Promise.resolve();
  expect(gates).toHaveLength(2);
  gates[1]!.resolve();
  await Promise.all(later);
  expect([gates.length, most]).toEqual([2, 1]);
  const last = ring();
  gates[2]!.resolve();
  await last;
});

test("a run that fails tells those who asked for it, and the next one runs", async () => {
  let runs = 0;
  const ring = singleFlight(async () => {
    if (++runs === 1) throw new Error("first");
  });
  const first = ring();
  const second = ring();
  expect(first).rejects.toThrow("first");
  await second;
  expect(runs).toBe(2);
});
