import { z } from "zod";
import type { Event } from "../../model/event.ts";

const count = z.coerce.number().int().nonnegative();

/** Which events; in a query the types are one text with commas. */
export const EventQuery = z.object({
  agent: z.string().optional(),
  team: z.string().optional(),
  types: z.preprocess((value) => (typeof value === "string" ? value.split(",") : value), z.array(z.string()).optional()),
  after: count.optional().describe("only events with a higher number"),
  since: count.optional().describe("only events of this moment or later"),
});

/** Each type has fields of its own; docs/events.md lists them. */
const EventView = z.custom<Event>((value) => typeof (value as Event | null)?.seq === "number");

export const eventSchemas = {
  /** Without `after` and `since`: the newest ones. With `accept: text/event-stream` the same place is a live stream. */
  events: {
    input: EventQuery.extend({ limit: count.optional() }),
    output: z.object({
      events: z.array(EventView),
      last: z.number().int().describe("ask for more, or stream, after this number"),
      more: z.boolean(),
    }),
  },
} as const;
