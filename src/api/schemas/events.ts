import { z } from "zod";
import type { Event } from "../../model/event.ts";
import { agentAddress, count, time } from "./fields.ts";

/** Which events; in a query the types are one text with commas. */
export const EventQuery = z.object({
  agent: agentAddress.optional().describe("only events about this agent; its name, or team:name"),
  team: z.string().optional().describe("only events of this team, or about its agents"),
  types: z.preprocess(
    (value) => (typeof value === "string" ? value.split(",") : value),
    z.array(z.string()).optional().describe("only these types; delivery means all delivery.* types"),
  ),
  after: count.optional().describe("only events with a higher number"),
  since: count.optional().describe("only events since then"),
});

/** Each type has fields of its own; docs/events.md lists them. */
export const EventView = z.custom<Event>((value) => typeof (value as Event | null)?.seq === "number");

export const ActivityView = z.object({
  paneId: z.string().nullable(),
  wishId: z.string().nullable().describe("the label of the task that it was started for"),
  status: z.enum(["running", "waiting", "idle", "stopped"]),
  lastEvent: z.object({ type: z.string(), toolName: z.string().nullable(), timestamp: time }).nullable(),
  lastActivityAt: time,
  eventCount: z.number().int(),
});
