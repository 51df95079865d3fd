import { expect, test } from "bun:test";
import { soak } from "../../../testing/soak.ts";

test("ten seconds of everything at once: all arrive once, no dialog is answered, no draft submitted", async () => {
  const { arrivals, strange, answers, deliveries } = await soak({ messages: 20, durationMs: 10_000, seed: 7 });
  expect(deliveries.filter(({ state }) => state !== "delivered")).toEqual([]);
  expect(arrivals).toEqual(arrivals.map(() => 1));
  expect(strange).toEqual([]);
  expect(answers).toEqual([]);
}, 150_000);
