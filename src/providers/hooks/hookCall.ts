import { z } from "zod";
import type { HookDialect } from "./hookDialect.ts";

/**
 * One hook call of an agent program: it is about to do something, or has done it, and asks whether we have a word to
 * say. Programs write the same JSON, some with names of their own for the events.
 */
export interface HookCall {
  readonly provider: string;
  /** How the program's hooks speak. */
  readonly dialect: HookDialect;
  /** By its common name. */
  readonly event: string;
  readonly sessionId: string;
  /** Set when a subagent calls: it shares its parent's session, but the main thread does not read what it gets. */
  readonly subagent: string | null;
  readonly cwd: string | null;
  readonly transcriptPath: string | null;
  readonly tool: ToolUse | null;
  readonly prompt: string | null;
  /** The hook asked its program to give the model a context of any length. */
  readonly takesAll: boolean;
  /** The other fields of the payload, unchanged. */
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface ToolUse {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly id: string;
}

const Payload = z.looseObject({
  hook_event_name: z.string(),
  session_id: z.string().min(1),
  agent_id: z.string().optional(),
  cwd: z.string().optional(),
  transcript_path: z.string().nullish(),
  tool_name: z.string().optional(),
  tool_input: z.unknown().optional(),
  tool_use_id: z.string().optional(),
  prompt: z.string().optional(),
});

/** The call that a payload describes; null: not a hook call. */
export function readHookCall(
  { provider, dialect }: Pick<HookCall, "provider" | "dialect">,
  payload: unknown,
  takesAll = false,
): HookCall | null {
  const parsed = Payload.safeParse(payload);
  if (!parsed.success) return null;
  const {
    hook_event_name: event,
    session_id: sessionId,
    agent_id: subagent,
    cwd,
    transcript_path: transcriptPath,
    prompt,
  } = parsed.data;
  return {
    provider,
    dialect,
    event: dialect.commonName(event),
    sessionId,
    subagent: subagent ?? null,
    cwd: cwd ?? null,
    transcriptPath: transcriptPath ?? null,
    tool: toolOf(parsed.data),
    prompt: prompt ?? null,
    takesAll,
    payload: parsed.data,
  };
}

function toolOf({ tool_name: name, tool_input: input, tool_use_id: id }: z.infer<typeof Payload>): ToolUse | null {
  if (name === undefined) return null;
  const fields = typeof input === "object" && input !== null ? (input as Record<string, unknown>) : { input };
  return { name, input: fields, id: id ?? "" };
}

/** A call in few words, for the sender of the message that stopped it: `Edit src/auth.ts`. */
export function describeTool({ name, input }: ToolUse): string {
  const telling = ["file_path", "command", "cmd", "path", "url", "pattern", "description", "input"];
  const value = telling.map((key) => input[key]).find((one) => typeof one === "string");
  if (typeof value !== "string") return name;
  const line = value.replaceAll(/\s+/g, " ").trim();
  const characters = [...line];
  return `${name} ${characters.length <= 80 ? line : `${characters.slice(0, 79).join("")}…`}`;
}
