import { expect, test } from "bun:test";
import { soak } from "../../../testing/soak.ts";

test("five minutes and 500 messages: all arrive once, no dialog is answered, no draft submitted", async () => {
  const { arrivals, strange, answers, deliveries, ...told } = await soak({
    messages: 500,
    durationMs: 300_000,
    seed: 42,
  });
  console.log(
    `${arrivals.length} messages, ${told.drafts} drafts typed and taken back, ${told.swallowed} pastes ` +
      `swallowed by a dialog, states ${JSON.stringify(told.states)}`,
  );
  expect(deliveries.filter(({ state }) => state !== "delivered")).toEqual([]);
  expect(arrivals).toEqual(arrivals.map(() => 1));
  expect(strange).toEqual([]);
  expect(answers).toEqual([]);
}, 600_000);
