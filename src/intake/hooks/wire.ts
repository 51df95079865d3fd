import type { HookAnswer } from "../../providers/hooks/hookDialect.ts";
import type { HookCall } from "../../providers/hooks/hookCall.ts";
import type { Verdict } from "../../providers/hooks/hookHandler.ts";

/** Events that stop something when they are answered with a refusal. Elsewhere there is nothing left to refuse. */
const refusable: ReadonlySet<string> = new Set(["PreToolUse"]);

/** A verdict as the JSON that the program expects; null: nothing to say, the program continues. */
export function answerFor(
  { dialect, event }: Pick<HookCall, "dialect" | "event">,
  { refusal, context }: Pick<Verdict, "refusal" | "context">,
): HookAnswer | null {
  const name = dialect.ownName(event);
  if (refusal !== null) return refusable.has(event) ? dialect.refusal(name, refusal) : null;
  return context === null ? null : dialect.context(name, context);
}
