import type { Directory } from "../agents/directory/directory.ts";
import type { Callers } from "../api/callers.ts";
import type { Courier } from "../delivery/courier.ts";
import type { Metrics } from "../events/metrics.ts";
import type { NatsPublisher } from "../events/nats/publisher.ts";
import type { Spine } from "../events/spine.ts";
import type { Mailbox } from "../mailbox/port.ts";
import type { HttpAnswer } from "./http.ts";

export interface MetricsParts {
  readonly callers: Callers;
  readonly mailbox: Pick<Mailbox, "pending" | "waiting">;
  readonly directory: Directory;
  readonly courier: Pick<Courier, "holdOf">;
  readonly metrics: Metrics;
  readonly events: Pick<Spine, "lost">;
  readonly nats: Pick<NatsPublisher, "state"> | null;
}

/** `/metrics`, as Prometheus reads it. */
export function metricsAnswer({
  callers,
  mailbox,
  directory,
  courier,
  metrics,
  events,
  nats,
}: MetricsParts): HttpAnswer {
  return async (_, { caller }) => {
    // It counts who writes to whom, in every team.
    await callers.user(caller);
    const agents = [...directory.agents(), directory.roster.user];
    const queues = agents
      .map(({ id, name, team }) => ({ team, agent: name, depth: mailbox.pending(id) }))
      .filter(({ depth }) => depth > 0);
    const reasons = Map.groupBy(
      mailbox.waiting().flatMap((id) => courier.holdOf(id)?.reason ?? []),
      (reason) => reason,
    );
    const held = [...reasons].map(([reason, those]) => ({ reason, agents: those.length }));
    const { published: natsPublished = 0, dropped: natsDropped = 0 } = nats?.state ?? {};
    const text = metrics.text({ queues, held, eventsLost: events.lost, natsPublished, natsDropped });
    return new Response(text, { headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" } });
  };
}
