import { describe, expect, test } from "bun:test";
import type { Transition } from "../model/delivery.ts";
import type { Event, Fact } from "../model/event.ts";
import { agentId, deliveryId, type MessageId, type Tag } from "../model/ids.ts";
import { Metrics, type Gauges } from "./metrics.ts";

const none: Gauges = { queues: [], held: [], eventsLost: 0, natsPublished: 0, natsDropped: 0 };
const tag = "MSG_USER_00000001" as Tag;
const at = (time: number, fact: Fact): Event => ({ ...fact, seq: 1, at: time }) as Event;

function step(time: number, change: Partial<Transition> & Pick<Transition, "from" | "to">): Event {
  const transition: Transition = {
    delivery: deliveryId(1),
    at: 0,
    verb: "settle",
    reason: null,
    detail: null,
    proof: null,
    transport: "tmux",
    authority: null,
    ...change,
  };
  return at(time, {
    type: `delivery.${change.to}`,
    tag,
    messageId: "m" as MessageId,
    agent: agentId("a"),
    agentName: "ana",
    team: "web",
    sender: "user",
    acceptedAt: 1_000,
    ...transition,
  });
}

function lines(events: readonly Event[], gauges: Gauges = none): string[] {
  const metrics = new Metrics();
  for (const event of events) metrics.observe(event);
  return metrics.text(gauges).split("\n");
}

describe("metrics", () => {
  test("deliveries by state and transport; a confirmation in the same state is no new one", () => {
    const text = lines([
      step(1_000, { from: null, to: "queued", transport: null }),
      step(1_100, { from: "claimed", to: "delivered" }),
      step(1_200, { from: "delivered", to: "delivered" }),
    ]);
    expect(text).toContain('tieline_deliveries_total{state="queued",transport=""} 1');
    expect(text).toContain('tieline_deliveries_total{state="delivered",transport="tmux"} 1');
  });

  test("the time from acceptance until it was delivered, and until it was seen", () => {
    const text = lines([
      step(1_200, { from: "claimed", to: "delivered" }),
      step(3_000, { from: "delivered", to: "seen" }),
      step(1_004, { from: "claimed", to: "seen" }),
    ]);
    expect(text).toContain('tieline_delivery_seconds_bucket{stage="delivered",le="0.005"} 1');
    expect(text).toContain('tieline_delivery_seconds_bucket{stage="delivered",le="0.25"} 2');
    expect(text).toContain('tieline_delivery_seconds_count{stage="delivered"} 2');
    expect(text).toContain('tieline_delivery_seconds_bucket{stage="seen",le="1"} 1');
    expect(text).toContain('tieline_delivery_seconds_bucket{stage="seen",le="+Inf"} 2');
    expect(text).toContain('tieline_delivery_seconds_sum{stage="seen"} 2.004');
  });

  test("holds by reason, edges, refusals, and what is true now", () => {
    const accepted: Fact = {
      type: "message.accepted",
      id: "m" as MessageId,
      tag,
      from: "user",
      to: "@all",
      team: "web",
      recipients: ["ana", "bob"],
    };
    const denied: Fact = { type: "route.denied", from: "ana", to: "bob", team: "web", allowed: [] };
    const gauges = {
      queues: [{ team: "web", agent: 'a"b\\c\n', depth: 3 }],
      held: [{ reason: "dialog", agents: 2 }],
      eventsLost: 4,
      natsPublished: 5,
      natsDropped: 6,
    };
    const text = lines(
      [at(0, accepted), at(0, denied), step(0, { from: "queued", to: "queued", verb: "hold", reason: "dialog" })],
      gauges,
    );
    expect(text).toEqual(
      expect.arrayContaining([
        'tieline_edge_messages_total{team="web",from="user",to="bob"} 1',
        'tieline_messages_accepted_total{team="web"} 1',
        'tieline_routes_denied_total{team="web"} 1',
        'tieline_holds_total{reason="dialog"} 1',
        'tieline_agents_held{reason="dialog"} 2',
        'tieline_queue_depth{team="web",agent="a\\"b\\\\c\\n"} 3',
        'tieline_events_dropped_total{sink="disk"} 4',
        'tieline_events_dropped_total{sink="nats"} 6',
        "tieline_nats_published_total 5",
      ]),
    );
  });
});
