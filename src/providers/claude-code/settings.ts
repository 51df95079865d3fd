/** What we ask Claude Code to do in its settings: to tell us of its steps, and to let other sessions write to it. */
import { hookCommand } from "../hooks/hookCommand.ts";
import { shellWord } from "../../os/shell.ts";
import type { HookSetup } from "../port.ts";
import type { HookGroup } from "../settingsFile.ts";

const events = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PostToolUse",
  "PostToolBatch",
  "PermissionRequest",
  "SubagentStart",
  "Stop",
  "SessionEnd",
];
/** Where a session comes to rest. */
const restsAt = ["SessionStart", "Stop"];

/** Seconds. A daemon that takes longer is out of order, and the agent continues. */
const hookTimeout = 5;
/** Seconds: as long as a session may lie idle and still be woken. */
const waitTimeout = 7 * 86_400;

/** Paths and nothing else: a port could be taken by another program, and a token has no place in a settings file. */
export function hookSettings({ hook, wait }: HookSetup): Record<string, readonly HookGroup[]> {
  const waiter = { type: "command", command: shellWord(wait), asyncRewake: true, timeout: waitTimeout };
  const groups = events.map((event) => {
    const own = { type: "command", command: hookCommand({ hook }, "claude-code", event), timeout: hookTimeout };
    return [event, [{ hooks: restsAt.includes(event) ? [own, waiter] : [own] }]] as const;
  });
  return Object.fromEntries(groups);
}

/** The settings of a session that we start. */
export function launchSettings(setup: HookSetup): Record<string, unknown> {
  return { crossSessionInbound: "accept", hooks: hookSettings(setup) };
}
