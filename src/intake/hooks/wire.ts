import type { HookCall } from "./call.ts";
import type { Verdict } from "./chain.ts";

/** Events that stop something when they are answered with a refusal. Elsewhere there is nothing left to refuse. */
const refusable: ReadonlySet<string> = new Set(["PreToolUse"]);

/** The JSON that tells Claude Code and Codex a verdict; null: no word, go on. */
export function answerFor({ provider, event }: Pick<HookCall, "provider" | "event">, { refusal, context }: Pick<Verdict, "refusal" | "context">): Record<string, unknown> | null {
  if (refusal !== null) return refusable.has(event) ? refused(event, refusal) : null;
  if (context === null) return null;
  // Claude Code goes on after a Stop hook's context as well, and shows the reason of a block to its model twice.
  if (event === "Stop" && provider === "codex") return { decision: "block", reason: context };
  return { hookSpecificOutput: { hookEventName: event, additionalContext: context } };
}

function refused(event: string, reason: string): Record<string, unknown> {
  return { hookSpecificOutput: { hookEventName: event, permissionDecision: "deny", permissionDecisionReason: reason } };
}
