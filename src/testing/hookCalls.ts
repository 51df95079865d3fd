import type { HookCall } from "../intake/hooks/call.ts";

export function hookCall(change: Partial<HookCall> = {}): HookCall {
  const event = change.event ?? "PreToolUse";
  return {
    provider: "claude-code",
    event,
    sessionId: "s-1",
    subagent: null,
    cwd: "/p",
    transcriptPath: null,
    tool: event === "PreToolUse" || event === "PostToolUse" ? { name: "Bash", input: { command: "touch one" }, id: "t-1" } : null,
    prompt: null,
    payload: {},
    ...change,
  };
}
