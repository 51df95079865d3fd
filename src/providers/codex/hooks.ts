/** The hooks by which Codex tells us of its steps, and the trust that Codex wants to see before it runs any. */
import { commonDialect, type HookDialect } from "../hooks/hookDialect.ts";
import { hookCommand, runsHookOf } from "../hooks/hookCommand.ts";
import type { HookSetup } from "../port.ts";
import { codexServerOf } from "./threads.ts";

/** The events that we listen to, and what Codex calls them in its book of trust. */
export const hookEvents: Readonly<Record<string, string>> = {
  SessionStart: "session_start",
  UserPromptSubmit: "user_prompt_submit",
  PreToolUse: "pre_tool_use",
  PermissionRequest: "permission_request",
  PostToolUse: "post_tool_use",
  Stop: "stop",
  SessionEnd: "session_end",
};

/** Events whose hooks can ask for a context of any length. */
const unlimited: ReadonlySet<string> = new Set(["UserPromptSubmit", "PreToolUse", "PostToolUse"]);

export const codexDialect: HookDialect = {
  ...commonDialect,
  besideTheUser: true,
  // Codex cuts a context at some 2,500 tokens unless its hook asks for the whole, and a refusal at 12,000; it counts
  // four bytes as one.
  contextLimit: (event, takesAll) => (takesAll && unlimited.has(event) ? 900_000 : 9_900),
  refusalLimit: 47_000,
  // It calls no hook after a command that continues in the background.
  speaksBeforeTools: true,
  takesMailAtIdle: (agent) => codexServerOf(agent) !== null,
  // The turn continues with the reason of a block. Claude Code continues with a context too, and shows a reason twice.
  context: (event, text) =>
    event === "Stop"
      ? { decision: "block", reason: text }
      : { hookSpecificOutput: { hookEventName: event, additionalContext: text } },
};

export interface CodexHook {
  readonly type: "command";
  readonly command: string;
  /** Seconds. */
  readonly timeout: number;
  /** Tokens of context that are given to the model; 0: all of them. */
  readonly additionalContextLimit?: 0;
}

/** Seconds. The hook itself takes milliseconds; at the end of a session Codex allows no more than three. */
const timeoutOf = (event: string): number => (event === "SessionEnd" ? 3 : 10);

export function hookFor(event: string, setup: Pick<HookSetup, "hook" | "answer">): CodexHook {
  const all = unlimited.has(event) && knowsLimits(setup.answer ?? null);
  return {
    type: "command",
    command: hookCommand(setup, "codex", event, all),
    timeout: timeoutOf(event),
    ...(all && { additionalContextLimit: 0 }),
  };
}

/** Whether the version that Codex says it is, such as `codex-cli 0.166.0`, lets a hook ask for all of its context. */
function knowsLimits(answer: string | null): boolean {
  const [, major, minor] = /(\d+)\.(\d+)\.\d+/.exec(answer ?? "") ?? [];
  return Number(major) > 0 || Number(minor) >= 166;
}

export const isOurs = runsHookOf("codex");

/** The settings of a session that we start. What we put there ourselves is trusted there, and nothing else is. */
export function launchHooks(setup: HookSetup): Record<string, unknown> {
  const events = Object.keys(hookEvents);
  const groups = events.map((event) => [event, [{ hooks: [hookFor(event, setup)] }]]);
  const trust = events.map((event) => [
    `/<session-flags>/config.toml:${hookEvents[event]}:0:0`,
    { trusted_hash: trustHash(event, hookFor(event, setup)) },
  ]);
  return { ...Object.fromEntries(groups), state: Object.fromEntries(trust) };
}

/** What Codex writes down for a hook that the user trusts: the digest of what it does, with its keys in order. */
export function trustHash(event: string, { additionalContextLimit, command, timeout, type }: CodexHook): string {
  const limit = additionalContextLimit === undefined ? {} : { additionalContextLimit };
  const identity = { event_name: hookEvents[event], hooks: [{ ...limit, async: false, command, timeout, type }] };
  return `sha256:${new Bun.CryptoHasher("sha256").update(JSON.stringify(identity)).digest("hex")}`;
}

/** A value as TOML, in one line. */
export function toml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(",")}]`;
  // A basic TOML string is escaped like JSON.
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}=${toml(inner)}`)
    .join(",")}}`;
}
