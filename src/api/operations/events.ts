import { EventQuery } from "../schemas/events.ts";
import type { Switch } from "../../compose/index.ts";
import type { Agent } from "../../model/agent.ts";
import { isWanted, type Event, type EventFilter } from "../../model/event.ts";
import type { Callers } from "../callers.ts";
import { checkKeys, parse, type Call, type Operations } from "../../daemon/http.ts";
import type { Rights } from "../rights.ts";
import { teamFilterOf } from "../../daemon/teamFilter.ts";
import { eventStream } from "../../daemon/stream.ts";

type Wanted = (event: Event) => boolean;

const scanned = 1_000;
const mostAtOnce = 10_000;

export function eventOperations(tieline: Switch, callers: Callers, rights: Rights): Pick<Operations, "events"> {
  const { events } = tieline;
  const checkTeam = checkTeamOf(tieline);

  return {
    async events({ after, since, limit = 100, ...fields }, { caller }) {
      const from = await callers.sender(caller);
      const filter = filterOf(fields);
      checkTeam(filter.team);
      const wanted: Wanted = (event) => isWanted(event, filter) && rights.readsEvent(from, event);
      if (after === undefined && since === undefined) return newest(wanted, Math.min(limit, mostAtOnce));
      const start = Math.max(after ?? 0, since === undefined ? 0 : events.before(since));
      const page = events.after(start, scanned);
      return { events: page.filter(wanted), last: page.at(-1)?.seq ?? start, more: page.length === scanned };
    },
  };

  async function newest(wanted: Wanted, limit: number): Promise<{ events: Event[]; last: number; more: boolean }> {
    const { last } = events;
    const found: Event[] = [];
    for (
      let upTo = last, page = events.upTo(upTo, scanned);
      found.length < limit && page.length > 0;
      page = events.upTo(upTo, scanned)
    ) {
      found.unshift(...page.filter(wanted));
      upTo = page[0]!.seq - 1;
      // A rare type may be far back; others get their turn meanwhile.
      await new Promise((resolve) => setImmediate(resolve));
    }
    return { events: limit === 0 ? [] : found.slice(-limit), last, more: false };
  }
}

/** The live answer at the same place, for callers that accept text/event-stream. */
export function eventStreams(tieline: Switch, callers: Callers, rights: Rights) {
  const { events, statusMonitor, directory } = tieline;
  const checkTeam = checkTeamOf(tieline);
  return async (request: Request, { caller, signal }: Call): Promise<Response | null> => {
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
    // Followers want to see what agents do as it happens.
    const attention = followsAgents(filter)
      ? statusMonitor.follow(() =>
          directory.agents().filter((agent) => concerns(agent, filter) && rights.sees(reader, agent)),
        )
      : null;
    const wanted: Wanted = (event) => isWanted(event, filter) && rights.readsEvent(reader, event);
    return eventStream(events, Number.isSafeInteger(resumed) ? resumed : from, wanted, signal, {
      onEnd: () => attention?.[Symbol.dispose](),
    });
  };
}

/** An unknown team would show an empty list, as if nothing had happened. */
const checkTeamOf = (tieline: Switch) => {
  const teamFilter = teamFilterOf(tieline);
  return (team: string | undefined): void => void (team === undefined || teamFilter(team));
};

const followsAgents = ({ types }: EventFilter): boolean =>
  types === undefined || types.some((type) => "agent.changed".startsWith(type));

const concerns = ({ name, team }: Agent, filter: EventFilter): boolean =>
  (filter.team === undefined || filter.team === team) && (filter.agent === undefined || filter.agent === name);

function filterOf({ agent, team, types }: { [Name in keyof EventFilter]: EventFilter[Name] | undefined }): EventFilter {
  return {
    ...(agent !== undefined && { agent }),
    ...(team !== undefined && { team }),
    ...(types !== undefined && { types }),
  };
}
