/** Observers of events: they only listen and publish. */
import type { HomeConfig } from "../config/home.ts";
import type { Directory } from "../agents/directory/directory.ts";
import { Activities } from "../events/activity.ts";
import { factsOf } from "../events/facts.ts";
import { Metrics } from "../events/metrics.ts";
import { natsLinks } from "../events/nats/link.ts";
import { NatsPublisher } from "../events/nats/publisher.ts";
import type { Spine } from "../events/spine.ts";
import type { Mailbox } from "../mailbox/port.ts";
import type { AgentId, Clock } from "../model/ids.ts";
import { teamProtocol } from "../providers/claude-code/teams/teamProtocol.ts";
import type { Timers } from "../os/timers.ts";

export interface AudienceParts {
  readonly events: Spine;
  readonly mailbox: Mailbox;
  readonly directory: Directory;
  /** Without an address nothing is connected to, and nothing is published. */
  readonly nats: HomeConfig["nats"];
  readonly clock: Clock;
  readonly timers: Timers;
}

export interface Audience {
  readonly activities: Activities;
  readonly metrics: Metrics;
  /** null: nothing is published. */
  readonly nats: NatsPublisher | null;
  /** The server of the settings or the environment; null: none. */
  readonly natsUrl: string | null;
}

/** The activity before the start of the daemon is read from so many of the last events. */
const rememberedEvents = 2_000;

export function audienceOf({ events, mailbox, directory, nats: server, clock, timers }: AudienceParts): Audience {
  mailbox.onTransitions((changes) => {
    const teamOf = (agent: AgentId): string | null => directory.agent(agent)?.team || null;
    for (const fact of factsOf(changes, { teamOf, inWords: teamProtocol.inWords })) events.emit(fact);
  });
  const activities = new Activities({
    named: (team, name) => directory.roster.named(team, name),
    newestMailAt: (agent) => mailbox.inbox(agent, { limit: 1 })[0]?.message.acceptedAt ?? null,
  });
  for (const event of events.upTo(events.last, rememberedEvents)) activities.observe(event);
  const metrics = new Metrics();
  const contentOf = (id: Parameters<Mailbox["message"]>[0]): string | null => mailbox.message(id)?.body ?? null;
  const { url } = server;
  const nats =
    server.enabled && url !== null
      ? new NatsPublisher(natsLinks({ ...server, url }), { prefix: server.prefix, contentOf, clock, timers })
      : null;
  events.onEvent((event) => activities.observe(event));
  events.onEvent((event) => metrics.observe(event));
  if (nats) events.onEvent((event) => nats.offer(event));
  return { activities, metrics, nats, natsUrl: url };
}
