/** One outbox file: what an agent wants sent, or why it cannot be. */
import { z } from "zod";

/** The longest content, in bytes. */
export const maxContentBytes = 1 << 20;
/** The largest file: JSON may write one byte of content as six. */
export const maxFileBytes = 6 * maxContentBytes + (64 << 10);

const reference = z.string().min(1).max(200);
const body = {
  content: z
    .string()
    .refine((text) => text.trim() !== "", "is empty")
    .refine((text) => Buffer.byteLength(text) <= maxContentBytes, "is longer than 1 MiB"),
  id: reference.optional(),
  replyTo: reference.optional(),
  when: z.enum(["turn", "tool", "interrupt"]).optional(),
};
const name = "[A-Za-z_][A-Za-z0-9_-]*";
const direct = z.object({
  to: z.string().regex(new RegExp(`^@?${name}(?::${name})?$`), "is not an agent's name"),
  ...body,
});
const broadcast = z.object({ broadcast: z.literal(true), ...body });

export type OutboxEntry = z.infer<typeof direct> | z.infer<typeof broadcast>;

export type ParsedFile =
  | { ok: true; entry: OutboxEntry }
  /** `mayGrow`: the file may be half-written, so that it makes sense to look again. */
  | { ok: false; reason: string; mayGrow: boolean };

export function parseOutboxFile(bytes: Uint8Array): ParsedFile {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    return { ok: false, reason: `not JSON in UTF-8: ${(error as Error).message}`, mayGrow: true };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return wrong("not a JSON object");
  const isDirect = "to" in value;
  if (isDirect === "broadcast" in value) return wrong('needs either "to" or "broadcast": true');
  const parsed = (isDirect ? direct : broadcast).safeParse(value);
  if (parsed.success) return { ok: true, entry: parsed.data };
  return wrong(parsed.error.issues.map((issue) => `"${issue.path.join(".")}": ${issue.message}`).join("; "));
}

function wrong(reason: string): ParsedFile {
  return { ok: false, reason, mayGrow: false };
}
