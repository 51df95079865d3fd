import { z } from "zod";
import { longestTtlMs, whens } from "../../model/message.ts";

/** The fields of a message, as the API and the MCP tools take them. */
export const recipient = z.string().describe("an agent's name, team:name, @team, @all, or user");
export const bodyText = z.string().describe("the text of the message");
export const messageTag = z.string().describe("the tag of a message, such as MSG_ANA_7f3a91c2");
export const urgency = z
  .enum(whens)
  .describe(
    "turn: when the agent is idle (default); tool: with its next tool result; interrupt: before its next tool call, " +
      "only to stop a mistake",
  );
export const noteText = z
  .string()
  .max(500)
  .nullable()
  .describe("one line about what the agent is doing; null clears it");

/** GET inputs arrive as text. */
export const count = z.coerce.number().int().nonnegative();
/** How long one call may wait; callers who wait longer call again. */
export const pollMs = count.max(600_000).describe("milliseconds, at most 10 minutes");
export const flag = z.preprocess((value) => (value === "true" ? true : value === "false" ? false : value), z.boolean());
/**
 * Who asks: what an agent reads as text has its inner frame lines quoted, so that no body passes for another message.
 */
export const reader = z.enum(["user", "agent"]).describe("who asks");
export const time = z.number().describe("milliseconds since the epoch");

const ttlRange = `must be between 1 and ${longestTtlMs} (366 days)`;
export const ttlMs = z.number().int().min(1, ttlRange).max(longestTtlMs, ttlRange).describe("at most 366 days");
