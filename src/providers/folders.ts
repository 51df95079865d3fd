/** Where programs keep their settings and their conversations. */
import { join } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

export const claudeFolder = (env: Environment): string => env["CLAUDE_CONFIG_DIR"] || join(homeIn(env), ".claude");
export const codexFolder = (env: Environment): string => env["CODEX_HOME"] || join(homeIn(env), ".codex");
export const geminiFolder = (env: Environment): string => join(env["GEMINI_CLI_HOME"] || homeIn(env), ".gemini");

export const homeIn = (env: Environment): string => env["HOME"] || "/";
