import { z } from "zod";

/** A hook call that a command hook brings, and the word that its answer has been written. */
export const hookSchemas = {
  hook: {
    input: z.object({
      provider: z.string(),
      payload: z.unknown(),
      tmuxSocket: z.string().optional(),
      pane: z.string().optional(),
      pid: z.number().int().positive().optional(),
    }),
    output: z.object({
      answer: z.record(z.string(), z.unknown()).nullable().describe("what the hook prints; null: nothing"),
      receipt: z.string().nullable().describe("say hookWritten with it once the answer is printed"),
    }),
  },
  hookWritten: { input: z.object({ receipt: z.string() }), output: z.object({ known: z.boolean() }) },
} as const satisfies Record<string, { input: z.ZodType; output: z.ZodType }>;
