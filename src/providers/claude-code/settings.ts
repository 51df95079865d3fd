/** What we ask Claude Code to do in its settings: to tell us of its steps, and to let other sessions write to it. */
import { hookCommand } from "../hookCommand.ts";
import { shellWord, type HookSetup } from "../provider.ts";
import type { HookGroup } from "../settingsFile.ts";

/** What http hooks are good for: no process per tool call. Claude Code has none for the start of a session. */
const httpEvents = ["UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch", "PermissionRequest", "SubagentStart", "Stop", "SessionEnd"];

/** Seconds. A daemon that takes longer is out of order, and the agent goes on. */
const httpTimeout = 5;
/** Seconds: as long as a session may lie idle and still be woken. */
const waitTimeout = 7 * 86_400;

export function hookSettings({ port, hook, wait }: HookSetup): Record<string, readonly HookGroup[]> {
  const command = { type: "command", command: hookCommand({ hook }, "claude-code", "SessionStart"), timeout: httpTimeout };
  const waiter = { type: "command", command: shellWord(wait), asyncRewake: true, timeout: waitTimeout };
  const http = {
    type: "http",
    url: `http://127.0.0.1:${port}/hooks/claude-code`,
    headers: { "X-Tieline-Token": "$TIELINE_TOKEN" },
    allowedEnvVars: ["TIELINE_TOKEN"],
    timeout: httpTimeout,
  };
  const events = port === null ? [] : httpEvents;
  return {
    SessionStart: [{ hooks: [command, waiter] }],
    ...Object.fromEntries(events.map((event) => [event, [{ hooks: event === "Stop" ? [http, waiter] : [http] }]])),
    ...(port === null && { Stop: [{ hooks: [waiter] }] }),
  };
}

/** The settings of a session that we start. */
export function launchSettings(setup: HookSetup): Record<string, unknown> {
  return { crossSessionInbound: "accept", hooks: hookSettings(setup) };
}
