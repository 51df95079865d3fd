import { z } from "zod";
import { longestTtlMs } from "../../model/message.ts";

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
