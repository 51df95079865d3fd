import { z } from "zod";
import { longestTtlMs, whens } from "../../model/message.ts";

/** The fields of a message, as the API and the MCP tools take them. */
export const recipient = z.string().describe("an agent's name, team:name, @team, @all, or user");
export const agentAddress = z.string().describe("an agent's name, or team:name");
export const newAgentName = z.string().describe("the agent's name");
export const modelName = z.string().describe("the model, as the program names it");
export const roleLabel = z.string().describe("a label that several agents may share");
export const bodyText = z.string().describe("the text of the message");
export const messageTag = z.string().describe("the tag of a message, such as MSG_ANA_7f3a91c2");
export const urgency = z
  .enum(whens)
  .describe(
    "turn: when the agent is idle (default); tool: with its next tool result; interrupt: before its next tool call, " +
      "only to stop a mistake",
  );
export const noteText = z.string().max(500).nullable().describe("one line about what the agent is doing");

/** GET inputs arrive as text. */
export const count = z.coerce.number().int().nonnegative();
export const limit = count.describe("at most this many");
export const sinceTime = count.describe("only what happened since then");
/** How long one call may wait; callers who wait longer call again. */
export const pollMs = count.max(600_000).describe("how long to wait; at most 10 minutes");
export const flag = z.preprocess((value) => (value === "true" ? true : value === "false" ? false : value), z.boolean());
export const everyTeam = flag.describe("every team, not only the caller's");
/**
 * Who asks: what an agent reads as text has its inner frame lines quoted, so that no body passes for another message.
 */
export const reader = z.enum(["user", "agent"]).describe("who asks");
export const time = z.number().describe("milliseconds since the epoch");

const ttlRange = `must be between 1 and ${longestTtlMs} (366 days)`;
export const ttlMs = z
  .number()
  .int()
  .min(1, ttlRange)
  .max(longestTtlMs, ttlRange)
  .describe("give up if it could not be delivered by then; at most 366 days");
