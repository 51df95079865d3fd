import { z } from "zod";
import { agentStates } from "../../model/agent.ts";

/** What is known of an agent's screen, and by which rule. */
export const ExplanationView = z.object({
  agent: z.string(),
  provider: z.string(),
  pane: z.string(),
  state: z.enum(agentStates),
  draft: z.boolean(),
  rule: z.string().nullable().describe("the rule that fired; `none` when no rule did, null where there is no screen"),
  why: z.string(),
  hold: z.string().nullable().describe("why nothing would be typed now; null: it would"),
  way: z
    .string()
    .nullable()
    .describe("the transport that your message would go by; `tmux` is typing; null: there is none"),
  known: z
    .object({
      title: z.string(),
      cursor: z.tuple([z.number().int(), z.number().int()]).readonly(),
      command: z.string(),
      directory: z.string().describe("the directory that its program is in now"),
      size: z.tuple([z.number().int(), z.number().int()]).readonly(),
      copyMode: z.boolean(),
      composer: z.string().nullable().describe("the text in the composer; null if none was found"),
    })
    .nullable(),
});
