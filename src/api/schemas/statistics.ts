import { z } from "zod";
import { time } from "./fields.ts";

const ms = z.number().describe("milliseconds, rounded up by at most 12 %").nullable();

export const Duration = z.object({ count: z.number().int(), median: ms, p95: ms });

const ByTransport = z.array(z.object({ transport: z.string().describe("empty: not known"), durations: Duration }));

/** An agent by its id; names are unique only within a team. */
export const EdgeEnd = z.object({
  id: z.string(),
  name: z.string(),
  team: z.string().nullable().describe("null: none, as for the user, or not known any more"),
  removed: z.boolean(),
});

export const EdgesView = z.object({
  edges: z
    .array(z.object({ from: EdgeEnd, to: EdgeEnd, count: z.number().int() }))
    .describe("deliveries from one agent to another, most first; at most 2,000"),
  allEdges: z.number().int().describe("how many there are"),
});

export const StatisticsView = z.object({
  since: time.describe("the beginning of the first bucket"),
  until: time,
  step: z.number().int().describe("milliseconds per bucket"),
  retentionMs: z.number().describe("how long messages are kept"),
  messages: z.number().int().describe("accepted in this range"),
  delivered: Duration.describe("from acceptance until delivered"),
  seen: Duration.describe("from acceptance until seen"),
  buckets: z.array(z.object({ at: time, messages: z.number().int(), delivered: ByTransport, seen: ByTransport })),
  held: z.array(z.object({ reason: z.string(), count: z.number().int() })),
  states: z.array(z.object({ state: z.string(), transport: z.string().nullable(), count: z.number().int() })),
  ...EdgesView.shape,
});
