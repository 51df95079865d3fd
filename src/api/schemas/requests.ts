import { z } from "zod";
import { requestKinds } from "../../model/message.ts";
import { time } from "./fields.ts";

/** What a message asks to be approved. */
export const RequestView = z.object({
  kind: z.enum(requestKinds),
  id: z.string().describe("the asker's own id for it"),
  text: z.string().describe("a description of the request"),
});

const OpenRequest = RequestView.extend({ tag: z.string(), from: z.string(), team: z.string(), at: time });

export const requestSchemas = <Receipt extends z.ZodType>(receiptView: Receipt) =>
  ({
    /** Oldest first; also those that the user has read already. */
    requests: { input: z.object({}), output: z.array(OpenRequest) },
    /** The same answer again is the same answer; another one is a CONFLICT. */
    answerRequest: {
      input: z.object({ tag: z.string(), approve: z.boolean(), text: z.string().optional() }),
      output: receiptView,
    },
  }) as const;

export type OpenRequest = z.infer<typeof OpenRequest>;
