import type { HookCall } from "./call.ts";
import type { Verdict } from "./chain.ts";
import { ownName } from "./dialects.ts";

/** Events that stop something when they are answered with a refusal. Elsewhere there is nothing left to refuse. */
const refusable: ReadonlySet<string> = new Set(["PreToolUse"]);

/** The JSON that tells a program a verdict; null: no word, go on. */
export function answerFor({ provider, event }: Pick<HookCall, "provider" | "event">, { refusal, context }: Pick<Verdict, "refusal" | "context">): Record<string, unknown> | null {
  if (refusal !== null) return refusable.has(event) ? refused(provider, event, refusal) : null;
  if (context === null) return null;
  // Claude Code goes on after a Stop hook's context as well, and shows the reason of a block to its model twice.
  if (event === "Stop" && provider === "codex") return { decision: "block", reason: context };
  return { hookSpecificOutput: { hookEventName: ownName(provider, event), additionalContext: context } };
}

function refused(provider: string, event: string, reason: string): Record<string, unknown> {
  if (provider === "gemini") return { decision: "deny", reason };
  return { hookSpecificOutput: { hookEventName: event, permissionDecision: "deny", permissionDecisionReason: reason } };
}
