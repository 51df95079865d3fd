/** Which events a caller gets, as a list or as a stream. */
import type { Directory } from "../agents/directory/directory.ts";
import type { Agent } from "../model/agent.ts";
import { isWanted, type Event, type EventFilter } from "../model/event.ts";
import type { Callers } from "./callers.ts";
import type { Rights } from "./rights.ts";
import type { Caller } from "./schema.ts";
import { teamFilterOf, type TeamFilterParts } from "./teamFilter.ts";

export interface EventSelectionParts extends TeamFilterParts {
  readonly callers: Callers;
  readonly rights: Rights;
  readonly directory: Directory;
}

export interface EventSelection {
  readonly isSelected: (event: Event) => boolean;
  /** The agents whose changes of state are selected, as of each call, because agents come and go; null: of none. */
  readonly agents: (() => readonly Agent[]) | null;
}

export async function selectEvents(
  parts: EventSelectionParts,
  caller: Caller,
  { agent, team, types }: { [Name in keyof EventFilter]: EventFilter[Name] | undefined },
): Promise<EventSelection> {
  const { callers, rights, directory } = parts;
  const reader = await callers.sender(caller);
  // An unknown team would show an empty list, as if nothing had happened.
  if (team !== undefined) teamFilterOf(parts)(team);
  const filter: EventFilter = {
    ...(agent !== undefined && { agent }),
    ...(team !== undefined && { team }),
    ...(types !== undefined && { types }),
  };
  const hasStates = types === undefined || types.some((type) => "agent.changed".startsWith(type));
  const concerns = (one: Agent): boolean => (team ?? one.team) === one.team && (agent ?? one.name) === one.name;
  return {
    isSelected: (event) => isWanted(event, filter) && rights.readsEvent(reader, event),
    agents: hasStates ? () => directory.agents().filter((one) => concerns(one) && rights.sees(reader, one)) : null,
  };
}
