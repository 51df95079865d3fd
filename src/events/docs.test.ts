import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { deliveryStates } from "../model/delivery.ts";
import type { Fact } from "../model/event.ts";
import { Metrics } from "./metrics.ts";

const page = readFileSync(join(import.meta.dir, "../../docs/events.md"), "utf8");

/** A type that is not here does not compile. */
const types: Record<Exclude<Fact["type"], `delivery.${string}`>, true> = {
  "message.accepted": true,
  "message.sent": true,
  "route.routed": true,
  "route.denied": true,
  "agent.registered": true,
  "agent.changed": true,
  "agent.removed": true,
  "tool.call": true,
  "user.prompt": true,
  "agent.response": true,
};

test("docs/events.md names every type", () => {
  for (const type of Object.keys(types)) expect(page).toContain(`\`${type}\``);
  const states = readFileSync(join(import.meta.dir, "../../docs/states.md"), "utf8");
  for (const state of deliveryStates) expect(states).toContain(state);
});

test("docs/events.md names every metric, and no other", () => {
  const text = new Metrics().text({ queues: [], held: [], eventsLost: 0, natsPublished: 0, natsDropped: 0 });
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!);
  expect([...new Set(page.match(/\btieline_\w+/g))].toSorted()).toEqual(names.toSorted());
});
