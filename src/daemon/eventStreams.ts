/** The events as they happen, for readers of text/event-stream. */
import type { StatusMonitor } from "../agents/status/statusMonitor.ts";
import { selectEvents, type EventSelectionParts } from "../api/eventSelection.ts";
import { checkKeys, parse } from "../api/parse.ts";
import { EventQuery } from "../api/schemas/events.ts";
import type { Spine } from "../events/spine.ts";
import type { HttpAnswer } from "./http.ts";
import { eventStream } from "./stream.ts";
import type { Timers } from "../os/timers.ts";

export interface EventStreamParts extends EventSelectionParts {
  readonly events: Spine;
  readonly statusMonitor: Pick<StatusMonitor, "follow">;
  readonly timers: Timers;
}

/** Answers `events` for a request that accepts text/event-stream. */
export function eventStreams(parts: EventStreamParts): HttpAnswer {
  const { events, statusMonitor, timers } = parts;
  return async (request, { caller, signal }) => {
    if (!request.headers.get("accept")?.includes("text/event-stream")) return null;
    const now = events.last;
    const query = Object.fromEntries(new URL(request.url).searchParams);
    checkKeys(EventQuery, query, "events");
    const { after, since, ...fields } = parse(EventQuery, query, "events");
    const resumed = Number(request.headers.get("last-event-id") ?? after ?? NaN);
    const from = since === undefined ? now : events.before(since);
    const { isSelected, agents } = await selectEvents(parts, caller, fields);
    // A reader that follows agents gets their states as they change.
    const attention = agents && statusMonitor.follow(agents);
    return eventStream(events, Number.isSafeInteger(resumed) ? resumed : from, isSelected, signal, {
      onEnd: () => attention?.[Symbol.dispose](),
      timers,
    });
  };
}
