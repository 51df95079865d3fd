import { z } from "zod";
import { time } from "./fields.ts";

export const objectSchemas = {
  /** What the team's `metrics` object received. */
  metrics: {
    input: z.object({}),
    output: z.object({
      team: z.string(),
      reports: z.array(
        z.object({
          agent: z.string(),
          data: z.unknown(),
          reportedAt: time,
          count: z.number().int().describe("how often it reported in all"),
        }),
      ),
      counters: z.record(z.string(), z.number()),
    }),
  },
} as const;
