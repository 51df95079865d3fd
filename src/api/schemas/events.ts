import { z } from "zod";
import type { Event } from "../../model/event.ts";

import { presences } from "../../model/agent.ts";
import { count, flag, time } from "./fields.ts";

/** Which events; in a query the types are one text with commas. */
export const EventQuery = z.object({
  agent: z.string().optional(),
  team: z.string().optional(),
  types: z.preprocess(
    (value) => (typeof value === "string" ? value.split(",") : value),
    z.array(z.string()).optional(),
  ),
  after: count.optional().describe("only events with a higher number"),
  since: count.optional().describe("only events of this moment or later"),
});

/** Each type has fields of its own; docs/events.md lists them. */
const EventView = z.custom<Event>((value) => typeof (value as Event | null)?.seq === "number");

export const ActivityView = z.object({
  paneId: z.string().nullable(),
  wishId: z.string().nullable().describe("the label of the task that it was started for"),
  status: z.enum(["running", "waiting", "idle", "stopped"]),
  lastEvent: z.object({ type: z.string(), toolName: z.string().nullable(), timestamp: time }).nullable(),
  lastActivityAt: time,
  eventCount: z.number().int(),
});

/** An exported message is the message with its transitions, in the words of schema.ts. */
export const eventSchemas = <Exported extends z.ZodType>(ExportedMessage: Exported) => ({
  /** Without `after` and `since`: the newest ones. With `accept: text/event-stream` the same place is a live stream. */
  events: {
    input: EventQuery.extend({ limit: count.optional() }),
    output: z.object({
      events: z.array(EventView),
      last: z.number().int().describe("ask for more, or stream, after this number"),
      more: z.boolean(),
    }),
  },
  activity: {
    input: z.object({ all: flag.optional().describe("every team, not only the caller's") }),
    output: z.array(
      ActivityView.extend({ id: z.string(), name: z.string(), team: z.string(), presence: z.enum(presences) }),
    ),
  },
  export: {
    input: z.object({
      since: count.optional(),
      after: z.string().optional().describe("the last id that was sent"),
      limit: count.max(1_000).optional(),
    }),
    output: z.object({ messages: z.array(ExportedMessage), last: z.string(), more: z.boolean() }),
  },
});
