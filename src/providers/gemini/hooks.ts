/** The hooks by which Gemini CLI tells us of its steps. */
import { commonDialect, type HookDialect } from "../hooks/hookDialect.ts";
import { hookCommand, runsHookOf } from "../hooks/hookCommand.ts";
import type { HookSetup } from "../port.ts";

/**
 * The events that we listen to, in Gemini's words. Not the end of a turn: what is said there it shows to the user as
 * a request that failed, and at rest a moment later a message can be typed.
 */
export const hookEvents = ["SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "SessionEnd"] as const;

const commonNames: Readonly<Record<string, string>> = {
  BeforeAgent: "UserPromptSubmit",
  BeforeTool: "PreToolUse",
  AfterTool: "PostToolUse",
  AfterAgent: "Stop",
};

export const geminiDialect: HookDialect = {
  ...commonDialect,
  commonName: (event) => commonNames[event] ?? event,
  ownName: (event) => Object.keys(commonNames).find((name) => commonNames[name] === event) ?? event,
  besideTheUser: true,
  contextLimit: () => 9_000,
  refusalLimit: 9_000,
  written: readableEntities,
  refusal: (_event, reason) => ({ decision: "deny", reason }),
};

/** It shows angle brackets to its model as entities; with the ampersands written so too, they can be read back. */
function readableEntities(text: string): string {
  if (!/[<>]/.test(text)) return text;
  return `${text.replaceAll("&", "&amp;")}\n[&lt; &gt; &amp; mean the characters themselves]`;
}

export interface GeminiHook {
  readonly type: "command";
  readonly name: string;
  readonly command: string;
  readonly timeout: number;
}

const timeoutMs = 10_000;

export const hookFor = (event: string, setup: Pick<HookSetup, "hook">): GeminiHook => ({
  type: "command",
  name: "tieline",
  command: hookCommand(setup, "gemini", event),
  timeout: timeoutMs,
});

export const isOurs = runsHookOf("gemini");
