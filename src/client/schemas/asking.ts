import { z } from "zod";
import { count, reader, time } from "./fields.ts";

export const askingSchemas = {
  /** Resolves when the message is answered, when it never can be, or after the timeout with neither. */
  answer: {
    input: z.object({ tag: z.string(), timeoutMs: count }),
    output: z.object({
      answer: z
        .object({
          tag: z.string(),
          from: z.string(),
          body: z.string(),
          at: time,
          reader,
          delivery: z.number().int().optional().describe("set when this call took it out of the queue: say `collected` once it was shown"),
        })
        .nullable(),
      lost: z.object({ agent: z.string(), state: z.string(), reason: z.string().nullable() }).nullable().describe("a delivery that can not be answered any more"),
      waiting: z.string().nullable().describe("why it was not delivered yet"),
    }),
  },
} as const;
