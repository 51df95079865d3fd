import { z } from "zod";
import { requestKinds } from "../../model/message.ts";
import { time } from "./fields.ts";

/** What a message asks to be approved. */
export const RequestView = z.object({
  kind: z.enum(requestKinds),
  id: z.string().describe("the asker's own id for it"),
  text: z.string().describe("a description of the request"),
});

export const OpenRequest = RequestView.extend({ tag: z.string(), from: z.string(), team: z.string(), at: time });

export type OpenRequest = z.infer<typeof OpenRequest>;
