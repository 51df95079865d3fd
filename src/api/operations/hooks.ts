/** For the hook script, on the socket only: the answer to a call in the spool, and that the hook has printed it. */
import { z } from "zod";
import type { HookDoor } from "../../intake/hooks/door.ts";
import { operation } from "../operation.ts";

export interface HookOperationParts {
  readonly door: Pick<HookDoor, "answer" | "written">;
}

export const hookOperations = [
  operation({
    name: "hook",
    summary: "Answer a hook call in the spool, for the hook script; on the socket only.",
    access: "open",
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
    run: ({ door }: HookOperationParts, { call }, { caller, signal }) => door.answer(call, caller, signal),
  }),

  operation({
    name: "hookWritten",
    summary: "Confirm that the hook has printed its answer; on the socket only.",
    access: "open",
    input: z.object({ receipt: z.string().describe("the `receipt` of the answer") }),
    output: z.object({ known: z.boolean() }),
    run: async ({ door }: HookOperationParts, { receipt }) => ({ known: await door.written(receipt) }),
  }),
] as const;
