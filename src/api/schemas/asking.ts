import { z } from "zod";
import { flag, pollMs, reader, time } from "./fields.ts";

export const askingSchemas = <Inbox extends z.ZodType>(inboxView: Inbox) =>
  ({
    /**
     * Resolves when the message is answered, when it never can be, when the caller is asked first, or after the timeout
     * with none of these.
     */
    answer: {
      input: z.object({
        tag: z.string(),
        timeoutMs: pollMs,
        questions: flag.optional().describe("return what agents ask the caller meanwhile; its own question stays open"),
      }),
      output: z.object({
        answer: z
          .object({
            tag: z.string(),
            from: z.string(),
            body: z.string(),
            at: time,
            reader,
            delivery: z
              .number()
              .int()
              .optional()
              .describe("set when this call took it out of the queue: say `collected` once it was shown"),
          })
          .nullable(),
        lost: z
          .object({ agent: z.string(), state: z.string(), reason: z.string().nullable() })
          .nullable()
          .describe("a delivery that can no longer be answered"),
        waiting: z.string().nullable().describe("why it was not delivered yet"),
        questions: z
          .array(inboxView)
          .describe("with `questions`: to be answered first. Say `collected` with each `delivery` once it was shown"),
        first: z
          .object({ tag: z.string(), from: z.string() })
          .nullable()
          .describe(
            "without `questions`: the question to the caller that has to be answered first, because its " +
              "asker waits for the caller",
          ),
      }),
    },
  }) as const;
