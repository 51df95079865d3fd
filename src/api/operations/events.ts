import { z } from "zod";
import type { Spine } from "../../events/spine.ts";
import type { Event } from "../../model/event.ts";
import { selectEvents, type EventSelection, type EventSelectionParts } from "../eventSelection.ts";
import { operation } from "../operation.ts";
import { EventQuery, EventView } from "../schemas/events.ts";
import { count, limit } from "../schemas/fields.ts";
import type { Timers } from "../../os/timers.ts";

type Wanted = EventSelection["isSelected"];

const scanned = 1_000;
const mostAtOnce = 10_000;
/** So many events are read for one page of older ones. */
const mostRead = 20_000;

export interface EventParts extends EventSelectionParts {
  readonly events: Spine;
  readonly timers: Pick<Timers, "nextTurn">;
}

export const eventOperations = [
  /** Without `after` and `since`: the newest ones. With `accept: text/event-stream` the same place is a live stream. */
  operation({
    name: "events",
    summary: "List events, oldest first.",
    access: "readable",
    input: EventQuery.extend({
      before: count.optional().describe("the newest events with a lower number, back to `since`; not with `after`"),
      until: count.optional().describe("with `before`: only events earlier than this moment"),
      limit: limit.optional().describe("at most this many; the newest, unless since or after is given"),
    }),
    output: z.object({
      events: z.array(EventView),
      last: z.number().int().describe("ask for more, or stream, after this number"),
      first: z.number().int().optional().describe("with `before`: ask for older ones before this number"),
      more: z.boolean().describe("there may be more: newer ones, or with `before` older ones"),
    }),
    async run(parts: EventParts, { after, since, before, until, limit = 100, ...fields }, { caller }) {
      const { events } = parts;
      const { isSelected: wanted } = await selectEvents(parts, caller, fields);
      if (before !== undefined) {
        const start = Math.min(before - 1, until === undefined ? Infinity : events.before(until));
        const floor = since === undefined ? 0 : events.before(since);
        return older(parts, wanted, { start, floor, limit: Math.min(limit, mostAtOnce) });
      }
      if (after === undefined && since === undefined) return newest(parts, wanted, Math.min(limit, mostAtOnce));
      const start = Math.max(after ?? 0, since === undefined ? 0 : events.before(since));
      const page = events.after(start, scanned);
      return { events: page.filter(wanted), last: page.at(-1)?.seq ?? start, more: page.length === scanned };
    },
  }),
] as const;

async function newest(
  parts: EventParts,
  wanted: Wanted,
  limit: number,
): Promise<{ events: Event[]; last: number; more: boolean }> {
  const { events, timers } = parts;
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
    await timers.nextTurn();
  }
  return { events: limit === 0 ? [] : found.slice(-limit), last, more: false };
}

/** One page back. A rare event may be far back, so a call reads a bounded number and says where it stopped. */
async function older(
  { events, timers }: EventParts,
  wanted: Wanted,
  { start, floor, limit }: { start: number; floor: number; limit: number },
): Promise<{ events: Event[]; last: number; first: number; more: boolean }> {
  const found: Event[] = [];
  let upTo = Math.min(start, events.last);
  let isEnd = limit === 0 || upTo <= floor;
  for (let read = 0; !isEnd && found.length < limit && read < mostRead; read += scanned) {
    const page = events.upTo(upTo, scanned).filter(({ seq }) => seq > floor);
    found.unshift(...page.filter(wanted));
    upTo = (page[0]?.seq ?? 1) - 1;
    isEnd = page.length < scanned || upTo <= floor;
    await timers.nextTurn();
  }
  const shown = limit === 0 ? [] : found.slice(-limit);
  const isCut = shown.length < found.length;
  return { events: shown, last: events.last, first: isCut ? shown[0]!.seq : upTo + 1, more: isCut || !isEnd };
}
