import type { Verdict } from "./chain.ts";

/** Events that stop something when they are answered with a refusal. Elsewhere there is nothing left to refuse. */
const refusable: ReadonlySet<string> = new Set(["PreToolUse"]);

/** The JSON that tells Claude Code and Codex a verdict; null: no word, go on. */
export function answerFor(event: string, { refusal, context }: Pick<Verdict, "refusal" | "context">): Record<string, unknown> | null {
  if (refusal !== null) return refusable.has(event) ? refused(event, refusal) : null;
  if (context === null) return null;
  if (event === "Stop" || event === "SubagentStop") return { decision: "block", reason: context };
  return { hookSpecificOutput: { hookEventName: event, additionalContext: context } };
}

function refused(event: string, reason: string): Record<string, unknown> {
  return { hookSpecificOutput: { hookEventName: event, permissionDecision: "deny", permissionDecisionReason: reason } };
}
