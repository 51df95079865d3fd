/** Programs have words of their own for the events of their hooks. The chain knows those of Claude Code, which Codex shares. */
const dialects: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  gemini: { BeforeAgent: "UserPromptSubmit", BeforeTool: "PreToolUse", AfterTool: "PostToolUse", AfterAgent: "Stop" },
};

export const commonName = (provider: string, event: string): string => dialects[provider]?.[event] ?? event;

export function ownName(provider: string, event: string): string {
  return Object.entries(dialects[provider] ?? {}).find(([, common]) => common === event)?.[0] ?? event;
}
