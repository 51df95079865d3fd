/** The events as they happen, for readers of text/event-stream. */
import type { Directory } from "../agents/directory/directory.ts";
import type { StatusMonitor } from "../agents/status/statusMonitor.ts";
import type { Callers } from "../api/callers.ts";
import { checkTeamOf, filterOf } from "../api/operations/events.ts";
import { checkKeys, parse } from "../api/parse.ts";
import type { Rights } from "../api/rights.ts";
import { EventQuery } from "../api/schemas/events.ts";
import type { TeamFilterParts } from "../api/teamFilter.ts";
import type { Spine } from "../events/spine.ts";
import type { Agent } from "../model/agent.ts";
import { isWanted, type Event, type EventFilter } from "../model/event.ts";
import type { HttpAnswer } from "./http.ts";
import { eventStream } from "./stream.ts";
import type { Timers } from "../os/timers.ts";

export interface EventStreamParts extends TeamFilterParts {
  readonly callers: Callers;
  readonly rights: Rights;
  readonly events: Spine;
  readonly statusMonitor: Pick<StatusMonitor, "follow">;
  readonly directory: Directory;
  readonly timers: Timers;
}

/** Answers `events` for a request that accepts text/event-stream. */
export function eventStreams(parts: EventStreamParts): HttpAnswer {
  const { callers, rights, events, statusMonitor, directory, timers } = parts;
  const checkTeam = checkTeamOf(parts);
  return async (request, { caller, signal }) => {
    if (!request.headers.get("accept")?.includes("text/event-stream")) return null;
    const now = events.last;
    const query = Object.fromEntries(new URL(request.url).searchParams);
    checkKeys(EventQuery, query, "events");
    const { after, since, ...fields } = parse(EventQuery, query, "events");
    const reader = await callers.sender(caller);
    const resumed = Number(request.headers.get("last-event-id") ?? after ?? NaN);
    const from = since === undefined ? now : events.before(since);
    const filter = filterOf(fields);
    checkTeam(filter.team);
    // A reader that follows agents gets their states as they change.
    const attention = followsAgents(filter)
      ? statusMonitor.follow(() =>
          directory.agents().filter((agent) => concerns(agent, filter) && rights.sees(reader, agent)),
        )
      : null;
    const wanted = (event: Event): boolean => isWanted(event, filter) && rights.readsEvent(reader, event);
    return eventStream(events, Number.isSafeInteger(resumed) ? resumed : from, wanted, signal, {
      onEnd: () => attention?.[Symbol.dispose](),
      timers,
    });
  };
}

const followsAgents = ({ types }: EventFilter): boolean =>
  types === undefined || types.some((type) => "agent.changed".startsWith(type));

const concerns = ({ name, team }: Agent, filter: EventFilter): boolean =>
  (filter.team === undefined || filter.team === team) && (filter.agent === undefined || filter.agent === name);
