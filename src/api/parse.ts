/** The check of what a caller sent. */
import type { z } from "zod";
import { TielineError } from "../model/errors.ts";
import { didYouMean, nearNames } from "../model/near.ts";
import { callerHeader } from "./wire.ts";

/** What came in, as the schema wants it, or USAGE. */
export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown, name: string): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalid(`${name}: ${wordsFor(result.error.issues)}`, result.error);
}

/** A key that no operation reads would look as if it had an effect. */
export function checkKeys(schema: z.ZodType, given: unknown, name: string): void {
  if (!("shape" in schema) || typeof given !== "object" || given === null || Array.isArray(given)) return;
  const known = Object.keys(schema.shape as object);
  const unknown = Object.keys(given).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const takes = known.length === 0 ? "it takes no parameters" : `it takes ${known.join(", ")}`;
  throw new TielineError(
    "USAGE",
    `${name}: unknown parameter ` +
      `${JSON.stringify(unknown.slice(0, 100))}${didYouMean(nearNames(unknown.slice(0, 100), known))}`,
    {
      remedy:
        unknown === "team" ? `${takes}; the team of a call is in the header ${callerHeader}, see docs/api.md` : takes,
      operands: { operation: name, parameter: unknown.slice(0, 100), known },
    },
  );
}

/** A few of them in a few words: what is wrong with a long input can be longer than the input. */
function wordsFor(issues: readonly z.core.$ZodIssue[]): string {
  const words = issues.slice(0, 5).map((issue) => `${issue.path.join(".") || "input"}: ${issue.message}`.slice(0, 300));
  return [...words, ...(issues.length > words.length ? [`and ${issues.length - words.length} more`] : [])].join("; ");
}

export const invalid = (message: string, cause?: unknown): TielineError =>
  new TielineError("USAGE", message, { remedy: "see docs/api.md for what the operation takes", cause });
