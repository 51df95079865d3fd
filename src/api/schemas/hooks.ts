import { z } from "zod";

/** For the hook script, on the socket only: the answer to a call in the spool, and that the hook has printed it. */
export const hookSchemas = {
  hook: {
    input: z.object({
      call: z
        .string()
        .regex(/^\d{1,20}$/)
        .describe("the call's name in hooks/spool"),
    }),
    output: z.object({
      answer: z.record(z.string(), z.unknown()).nullable().describe("what the hook prints; null: nothing"),
      receipt: z.string().nullable().describe("say hookWritten with it once the answer is printed"),
    }),
  },
  hookWritten: { input: z.object({ receipt: z.string() }), output: z.object({ known: z.boolean() }) },
} as const satisfies Record<string, { input: z.ZodType; output: z.ZodType }>;
